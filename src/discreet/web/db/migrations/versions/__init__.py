"""Steps that bring a database from one version of the program to the next."""
