"""The masking method ``targeted_generalization``: ``method`` holds the plug-in, the other modules are used by it alone."""
