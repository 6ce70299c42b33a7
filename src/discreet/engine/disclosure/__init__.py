"""Dictionaries, sensitivities and weights of the decision theory of disclosure (Lebanon et al.)."""
