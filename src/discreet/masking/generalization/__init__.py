"""The masking method ``generalization``: ``method`` is the plug-in, the other modules are its own."""
