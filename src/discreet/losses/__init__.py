"""One measure of loss a file."""
