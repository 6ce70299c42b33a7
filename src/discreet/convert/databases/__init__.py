"""One module per database, and what databases share: addresses, row batches, locks."""
