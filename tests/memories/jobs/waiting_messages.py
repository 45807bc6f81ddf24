"""The messages that wait for a worker, in PostgreSQL or, with tests.scaling.through_broker, in Redis or RabbitMQ."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection

from config.celery import QUEUE

SEEN_SQL = "SELECT convert_from(decode(message->>'body', 'base64'), 'UTF8')::json->0 FROM pgmq.q_dossier_jobs"


def waiting_messages() -> list[Any]:
    """Return the arguments of the messages that wait; they go on waiting."""
    if not settings.CELERY_BROKER_URL:
        with connection.cursor() as cursor:
            cursor.execute(SEEN_SQL)
            return [row[0] for row in cursor.fetchall()]
    with _queue() as queue:
        seen = list(iter(queue.get, None))
        for message in seen:
            message.requeue()
        return [message.payload[0] for message in seen]


def forget_messages() -> None:
    """Delete the messages that wait."""
    if not settings.CELERY_BROKER_URL:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM pgmq.q_dossier_jobs")
        return
    with _queue() as queue:
        queue.purge()


@contextmanager
def _queue() -> Iterator[Any]:
    app: Any = current_app
    with app.connection_for_read() as broker:
        queue = app.amqp.queues[QUEUE](broker.default_channel)
        queue.declare()
        yield queue
