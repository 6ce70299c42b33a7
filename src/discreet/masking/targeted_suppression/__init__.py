"""The masking method ``targeted_suppression``: ``method`` holds the plug-in, the other modules are used by it alone."""
