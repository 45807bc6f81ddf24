"""The parts of `config.postgres.embedded`: the data folder, its cluster, and the supervisor of the server."""
