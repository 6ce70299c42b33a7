"""One masking method a file, and the generator that runs a plan."""
