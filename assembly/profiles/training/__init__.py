"""Training fits the weights of a ranker to labelled questions, measured by the real search."""
