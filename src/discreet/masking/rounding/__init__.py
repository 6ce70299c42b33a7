"""The masking method ``rounding``: ``method`` holds the plug-in, the other modules are used by it alone."""
