"""One module per file format, and what formats share: types, missing values, column names."""
