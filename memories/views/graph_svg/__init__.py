"""The entity graph drawn as SVG."""
