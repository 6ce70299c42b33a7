"""What a policy lists of an attribute's values, beside the values that occur."""
