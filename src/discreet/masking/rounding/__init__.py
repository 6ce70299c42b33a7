"""The masking method ``rounding``: ``method`` is the plug-in, the other modules are its own."""
