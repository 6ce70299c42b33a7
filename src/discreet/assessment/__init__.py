"""A release judged: risks before and after, losses, and the verdict against the limits."""
