"""The topic is embedded within a deadline; if the embedder is late, the context is assembled without similarity.

So it is if the topic is more sensitive than the embedder may be given.
"""

import logging
from dataclasses import dataclass

from assembly.engine.codes import SourceCode
from assembly.sources.base import EMBEDDER, SourceReport
from assembly.sources.time_budget import TimeBudget
from memories.embeddings.active_model import last_known_model
from memories.embeddings.base import EmbedderFailed, EmbedderTimeout, embedder_deadline
from memories.embeddings.sent_levels import highest_level
from memories.embeddings.vectors import QueryVector, embed_query
from teams.sensitivity import Sensitivity

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TopicEmbedding:
    """A topic with its embedding (`direction`; None without one), and a report if the embedder failed."""

    topic: str
    direction: QueryVector | None = None
    report: SourceReport | None = None


NO_TOPIC_EMBEDDING = TopicEmbedding("")


def embed_topic(topic: str, time: TimeBudget, *, level: int) -> TopicEmbedding:
    """Return the topic, whose sensitivity is `level`, with its embedding. A remote embedder has the time of one source,
    or its own if shorter.
    """
    begun, seconds = time.elapsed_ms, time.seconds_for_one_source
    try:
        with embedder_deadline(seconds):
            direction = embed_query(topic, level)
        if direction is not None or not (fault := _kept_back(topic, level)):
            return TopicEmbedding(topic, direction)
        code = SourceCode.SOURCE_NOT_ASKED
    except (EmbedderFailed, TimeoutError) as error:
        logger.warning("the topic was not embedded: %s", error)
        is_late = isinstance(error, EmbedderTimeout | TimeoutError)
        code, fault = SourceCode.SOURCE_TIMEOUT if is_late else SourceCode.SOURCE_FAILED, str(error)
    times = time.elapsed_ms - begun, begun, begun + round(seconds * 1000)
    return TopicEmbedding(topic, None, SourceReport(EMBEDDER, 0, 1, *times, code, fault))


def _kept_back(topic: str, level: int) -> str:
    """Return the sentence that the embedder was not given the topic because of its level; "" if it was."""
    highest = highest_level(last_known_model().model)
    if level <= highest or not topic.strip():
        return ""
    return f"The topic is {Sensitivity(level).word}, and the embedding server is sent nothing above {highest.word}."
