"""The information loss measure ``integrity``: ``measure`` is the plug-in, the other modules are its own."""
