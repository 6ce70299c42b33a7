"""Dictionary-encoded columns, codes shared by two tables, record links, release order."""
