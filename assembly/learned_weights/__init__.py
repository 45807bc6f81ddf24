"""The weights of a profile's priority are learned from feedback, tried on recorded contexts, and switched on."""
