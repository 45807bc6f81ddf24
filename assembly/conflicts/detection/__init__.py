"""The comparison of two texts: whether they contradict each other, say the same, or neither."""

from assembly.conflicts.detection.comparison import Comparison, compare_texts

__all__ = ["Comparison", "compare_texts"]
