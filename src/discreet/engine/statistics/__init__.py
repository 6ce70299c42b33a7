"""Statistical models that several masking methods share."""
