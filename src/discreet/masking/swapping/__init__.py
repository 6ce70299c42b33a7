"""The masking method ``swapping``: ``method`` holds the plug-in, the other modules are used by it alone."""
