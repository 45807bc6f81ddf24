"""Retrieval: which of an owner's memories and documents bear on a question, and all that was measured of them."""

from memories.retrieval.documents import FoundPassage, passages_search
from memories.retrieval.finding import measured_rows, memories_search
from memories.retrieval.question import Question, question_read
from memories.retrieval.rows import ids_of
from memories.retrieval.scores import BREVITY, Weights, scores_of

__all__ = [
    "BREVITY",
    "FoundPassage",
    "Question",
    "Weights",
    "ids_of",
    "measured_rows",
    "memories_search",
    "passages_search",
    "question_read",
    "scores_of",
]
