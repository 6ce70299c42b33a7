"""The risk measure ``t_closeness``: ``measure`` is the plug-in, the other modules are its own."""
