"""The database engine that settings name: PostgreSQL with prepared statements."""
