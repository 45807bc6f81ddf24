"""Tables are divided into PostgreSQL's own partitions, by hash of the owner, while the application serves."""
