"""The random numbers of a release: the stream cipher, the fingerprint of the table, and the context of the release."""
