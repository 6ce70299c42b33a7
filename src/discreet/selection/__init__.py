"""Choosing the plan: by hand, checked before it runs, or by the wizard's search under the owner's limits."""
