"""Attacks on a release with a control: who is attacked, the nearest released records, and the risk with its interval."""
