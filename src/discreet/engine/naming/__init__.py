"""What a column's name says it is about: the vocabulary of kinds, in several languages, and the reader of names."""
