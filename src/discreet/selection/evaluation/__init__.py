"""What a plan does to a table, judged against the limits."""
