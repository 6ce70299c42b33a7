"""The nouns: frozen values without input or output."""
