"""The masking method ``targeted_suppression``: ``method`` is the plug-in, the other modules are its own."""
