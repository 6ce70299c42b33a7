"""Other readings of what is known: ranges of guesses, probabilities of being identified, scenarios."""
