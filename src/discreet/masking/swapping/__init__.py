"""The masking method ``swapping``: ``method`` is the plug-in, the other modules are its own."""
