"""kombu's transport by way of pgmq, with a worker that goes on where a connection breaks at the end of a job.

kombu forgets a message once the database has deleted it. Where that fails, Celery only logs it: the message would count
as under way for good, and a worker that takes one at a time would never take another.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from kombu.transport import pgmq

logger = logging.getLogger(__name__)


class Channel(pgmq.Channel):
    """A message that could not be deleted is seen once more, long after its job; the job's row says that it is done."""

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        with self._forgotten(delivery_tag):
            super().basic_ack(delivery_tag, multiple)  # type: ignore[no-untyped-call]

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        with self._forgotten(delivery_tag):
            super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]

    @contextmanager
    def _forgotten(self, delivery_tag: str) -> Iterator[None]:
        """Afterwards the message is not under way any more, whatever the database said."""
        try:
            yield
        except psycopg.Error as error:
            logger.warning("a message stays in the queue: %s", error)
            self.qos.ack(delivery_tag)


class Transport(pgmq.Transport):
    """Connects as kombu's own does."""

    Channel: Any = Channel
