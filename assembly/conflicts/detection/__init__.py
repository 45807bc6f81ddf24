"""Detection compares two texts and tells whether they contradict each other, say the same, or neither.

It is pure: it reads no database and no clock, and equal texts give equal answers.
"""

from assembly.conflicts.detection.comparison import Comparison, compare_texts
from assembly.conflicts.detection.inference import InferenceModel

__all__ = ["Comparison", "InferenceModel", "compare_texts"]
