"""The masking method ``top_bottom_coding``: ``method`` is the plug-in, the other modules are its own."""
