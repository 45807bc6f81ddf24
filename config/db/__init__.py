"""This package runs SQL for all apps: statements, the database backend, and helpers of migrations."""
