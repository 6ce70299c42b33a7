"""The masking method ``global_recoding``: ``method`` is the plug-in, the other modules are its own."""
