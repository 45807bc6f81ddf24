"""A language model from a folder, the shipped one or that of the operator, helps to find contradictions."""
