"""Coverage: what of a release no adversary and no step has looked at, and what masking left restorable."""
