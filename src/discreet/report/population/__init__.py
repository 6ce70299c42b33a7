"""What a report says about the population behind a sample."""
