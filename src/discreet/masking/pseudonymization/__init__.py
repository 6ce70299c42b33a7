"""The masking method ``pseudonymization``: ``method`` is the plug-in, the other modules are its own."""
