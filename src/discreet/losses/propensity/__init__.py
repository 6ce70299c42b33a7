"""The information loss measure ``propensity``: ``measure`` is the plug-in, the other modules are its own."""
