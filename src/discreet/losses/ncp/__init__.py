"""The information loss measure ``ncp``: ``measure`` is the plug-in, the other modules are its own."""
