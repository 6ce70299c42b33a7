"""The masking method ``targeted_generalization``: ``method`` is the plug-in, the other modules are its own."""
