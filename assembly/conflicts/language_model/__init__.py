"""A language model from a folder of the operator's helps to find contradictions, if a setting names the folder."""
