"""Membership: whether a person is in the data behind a release."""
