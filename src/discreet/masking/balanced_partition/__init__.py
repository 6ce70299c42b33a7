"""The masking method ``balanced_partition``: ``method`` is the plug-in, the other modules are its own."""
