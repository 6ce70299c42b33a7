"""The risk measure ``record_linkage``: ``measure`` is the plug-in, the other modules are its own."""
