"""The report that may be published with the release."""
