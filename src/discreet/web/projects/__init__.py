"""What people work on: projects, their policies, tables and releases."""
