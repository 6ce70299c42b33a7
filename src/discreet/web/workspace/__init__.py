"""The workspace of a project: the plan beside linked views of what it does, first on a sample, then on the table."""
