"""The masking method ``pram``: ``method`` is the plug-in, the other modules are its own."""
