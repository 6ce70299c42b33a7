"""What the engine runs on: compiled kernels, progress, memory limits, dispatch to engines, private files."""
