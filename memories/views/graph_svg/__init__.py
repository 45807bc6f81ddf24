"""This package draws the graph of an agent's entities as SVG."""
