"""External sources are HTTP endpoints of the organisation; this package stores, queries and tests them."""
