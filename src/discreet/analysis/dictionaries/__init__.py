"""Words that the values of a column may be: what they say about the kind of the column."""
