"""Choosing a plan: by hand, checked before it runs, or by the wizard's search under the data controller's limits."""
