"""From a point of the search space to the steps of a plan."""
