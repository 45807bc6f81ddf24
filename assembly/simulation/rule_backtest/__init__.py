"""A backtest applies a rule to recorded contexts and says what it would have changed."""
