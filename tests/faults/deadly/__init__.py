"""An app that only the workers of tests have: jobs that do harm."""
