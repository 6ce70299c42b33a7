"""The masking methods, one per file or folder, and the generator that runs a plan."""
