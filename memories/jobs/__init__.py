"""Background jobs: rows in PostgreSQL that workers take and run."""
