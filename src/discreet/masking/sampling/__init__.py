"""The masking method ``sampling``: ``method`` is the plug-in, the other modules are its own."""
