"""The masking method ``top_bottom_coding``: ``method`` holds the plug-in, the other modules are used by it alone."""
