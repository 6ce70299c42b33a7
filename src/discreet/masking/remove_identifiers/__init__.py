"""The masking method ``remove_identifiers``: ``method`` holds the plug-in, the other modules are used by it alone."""
