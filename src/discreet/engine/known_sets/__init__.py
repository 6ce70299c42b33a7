"""The family of known sets, the walk over it, and the sums of Orooji & Knapp (2018a)."""
