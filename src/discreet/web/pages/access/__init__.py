"""Pages on which people log in and look after their own account."""
