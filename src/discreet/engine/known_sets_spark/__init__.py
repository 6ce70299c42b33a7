"""The walk over known sets on Spark: plan, stages, counts, sums."""
