"""Limits of connections, request bodies and simultaneous requests, applied before a request costs anything."""
