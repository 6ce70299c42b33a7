"""The application's own database: tables, migrations, the audit log, and removal of files that no row names."""
