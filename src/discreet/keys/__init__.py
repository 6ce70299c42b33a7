"""The owner's secret keys: the ring they lie in, which key a release is made with, and releases known again by their content."""
