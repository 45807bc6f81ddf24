"""What `config.postgres.embedded` is made of: the data folder, its cluster, and the supervisor that keeps the server
up.
"""
