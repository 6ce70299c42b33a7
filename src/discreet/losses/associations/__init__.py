"""The loss measure ``associations``."""
