"""known_sets with class sizes of the population: 1/F in place of 1/f, with its statistical error."""
