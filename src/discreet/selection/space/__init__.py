"""The search space: its dimensions and their choices."""
