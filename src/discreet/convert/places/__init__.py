"""Where files come from and go to besides folders: standard streams, archives, object stores, several files as one table."""
