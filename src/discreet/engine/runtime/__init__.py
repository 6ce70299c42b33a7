"""What the engine runs on: private files and folders."""
