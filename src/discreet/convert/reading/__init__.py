"""Sources to Microdata: files, database tables and frames, whole or streamed."""
