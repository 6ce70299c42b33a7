"""Agreement by overlap: two cells agree where some value could be behind both."""
