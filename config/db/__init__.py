"""SQL for all apps: statements that travel together, the database backend, and helpers of migrations."""
