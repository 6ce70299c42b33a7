"""Where the random numbers of a release come from: the stream cipher, the table's fingerprint, and the context of a release."""
