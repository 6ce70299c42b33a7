"""What in a column points at people: facts of its values, forms such as e-mail addresses, names, record numbers, free text."""
