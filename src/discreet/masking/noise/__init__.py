"""The masking method ``noise``: ``method`` is the plug-in, the other modules are its own."""
