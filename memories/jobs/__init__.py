"""Background jobs are rows in PostgreSQL, which worker processes run."""
