"""The masking method ``microaggregation``: ``method`` is the plug-in, the other modules are its own."""
