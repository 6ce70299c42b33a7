"""The masking method ``local_suppression``: ``method`` is the plug-in, the other modules are its own."""
