"""Where the search starts."""
