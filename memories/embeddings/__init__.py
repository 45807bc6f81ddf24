"""This package holds embedding models (embedders), the vectors that they make, and the switch to another model."""
