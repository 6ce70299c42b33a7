"""The masking method ``remove_identifiers``: ``method`` is the plug-in, the other modules are its own."""
