"""The topic is embedded within a deadline; if the embedder is late, the context is assembled without similarity."""

import logging
from dataclasses import dataclass

from assembly.engine.codes import SourceCode
from assembly.sources.base import EMBEDDER, SourceReport
from assembly.sources.time_budget import TimeBudget
from memories.embeddings.base import EmbedderFailed, EmbedderTimeout, embedder_deadline
from memories.embeddings.vectors import QueryVector, embed_query

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TopicEmbedding:
    """A topic with its embedding (`direction`; None without one), and a report if the embedder failed."""

    topic: str
    direction: QueryVector | None = None
    report: SourceReport | None = None


NO_TOPIC_EMBEDDING = TopicEmbedding("")


def embed_topic(topic: str, time: TimeBudget) -> TopicEmbedding:
    """Return the topic with its embedding. A remote embedder has the time of one source, or its own if shorter."""
    begun, seconds = time.elapsed_ms, time.seconds_for_one_source
    try:
        with embedder_deadline(seconds):
            return TopicEmbedding(topic, embed_query(topic))
    except (EmbedderFailed, TimeoutError) as error:
        logger.warning("the topic was not embedded: %s", error)
        is_late = isinstance(error, EmbedderTimeout | TimeoutError)
        code = SourceCode.SOURCE_TIMEOUT if is_late else SourceCode.SOURCE_FAILED
        times = time.elapsed_ms - begun, begun, begun + round(seconds * 1000)
        return TopicEmbedding(topic, None, SourceReport(EMBEDDER, 0, 1, *times, code, str(error)))
