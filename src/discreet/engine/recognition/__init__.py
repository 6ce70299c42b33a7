"""What a column holds, recognised from its name and from its values' formats."""
