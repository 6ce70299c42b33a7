"""Classes of the population behind the equivalence classes of a sample: estimated sizes, with their uncertainty."""
