"""This package compares texts: it aligns words and blocks, and renders differences as HTML."""
