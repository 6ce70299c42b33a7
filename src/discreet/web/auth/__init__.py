"""Who is who and who may do what: accounts, sessions, tokens, throttling, the check of every request."""
