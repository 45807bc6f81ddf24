"""PostgreSQL with the extension Citus: the tables of owners are distributed over several servers, by their owner."""
