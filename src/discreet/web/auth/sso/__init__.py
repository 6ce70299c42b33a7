"""Single sign-on with an OpenID Connect provider of the institution."""
