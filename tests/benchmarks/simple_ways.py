"""The simple ways to rank an owner's memories, each computed by itself: cosine, BM25, and the sum of both."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from assembly.profiles.training.labelled_questions import Conversation, EvidenceQuestion
    from memories.search.question import SearchQuestion

K1, B = 1.2, 0.75
READ = """
SELECT id, (SELECT array_agg(lexeme) FROM unnest(search)),
    (SELECT array_agg(cardinality(positions)) FROM unnest(search)), embedding
FROM memories WHERE agent_id = %s
"""

Numbers = NDArray[np.float64]


class SimpleWays:
    """The stems and vectors of a conversation's memories, in the order of `conversation.tokens`."""

    def __init__(self, conversation: "Conversation") -> None:
        from django.db import connection

        from memories.models import Memory

        with connection.cursor() as cursor:
            cursor.execute(READ.replace("embedding", _column()), [conversation.agent.pk])
            rows = {row[0]: row[1:] for row in cursor.fetchall()}
        self._agent = conversation.agent.pk
        ordered = [rows[id_] for id_ in conversation.tokens]
        self._stems = [dict(zip(words or (), counts or (), strict=True)) for words, counts, _ in ordered]
        self._vectors = [None if vector is None else _array(vector) for _, _, vector in ordered]
        self._lengths = np.array([sum(stems.values()) for stems in self._stems], dtype=float)
        assert len(rows) == Memory.objects.filter(agent=conversation.agent).count()

    def orders(self, asked: "EvidenceQuestion") -> dict[str, list[int]]:
        """Return by way the places of the memories, the best first."""
        similarity, words = self._similarity(asked), self._bm25(asked.question)
        scores = {"similarity": similarity, "words": words, "sum": _z(similarity) + _z(words)}
        return {way: np.argsort(-score, kind="stable").tolist() for way, score in scores.items()}

    def _similarity(self, asked: "EvidenceQuestion") -> Numbers:
        if asked.question.vector is None:
            return np.zeros(len(self._stems))
        own = np.asarray(asked.question.vector.vector, dtype=float)
        return np.array([0.0 if vector is None else float(vector @ own) for vector in self._vectors])

    def _bm25(self, question: "SearchQuestion") -> Numbers:
        from memories.search.question import read_terms

        terms, _, _ = read_terms(question, "agent_id", self._agent, most=0)
        words = [[stem for name in names for stem in name] for names in terms.names[: len(terms.words)]]
        saturation = K1 * (1 - B + B * self._lengths / (self._lengths.mean() or 1.0))
        scores = np.zeros(len(self._stems))
        for stems in words:
            counts = np.array([sum(mine.get(stem, 0) for stem in stems) for mine in self._stems], dtype=float)
            having = np.count_nonzero(counts)
            idf = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
            scores += idf * counts * (K1 + 1) / (counts + saturation)
        return scores


def _column() -> str:
    from memories.embeddings.active_model import last_known_model

    return last_known_model().slot


def _array(vector: object) -> Numbers:
    text = vector if isinstance(vector, str) else None
    return np.array(text.strip("[]").split(","), dtype=float) if text else np.asarray(vector, dtype=float)


def _z(values: Numbers) -> Numbers:
    deviation = float(values.std()) or 1.0
    scores: Numbers = (values - values.mean()) / deviation
    return scores
