"""How far the verdicts of known_sets hold where the data controller's guesses are wrong."""
