"""The risk measure ``k_anonymity``: ``measure`` is the plug-in, the other modules are its own."""
