"""External sources are HTTP endpoints of the organisation's own; this room stores, asks and tests them."""
