"""This package limits how many requests and texts keys, people, agents and teams may send, and counts them."""
