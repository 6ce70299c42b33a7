"""Authentication and authorisation: accounts, sessions, API tokens, throttling of logins, checks of every request."""
