"""What wakes workers: a connection that breaks at the end of a job does not end the worker's work."""

import pytest
from django.db import connection
from kombu import Connection, Consumer, Producer
from kombu.message import Message

from config.celery import QUEUE, app

pytestmark = pytest.mark.usefixtures("committed_database")


@pytest.mark.parametrize("end", ["ack", "reject"])
def test_a_message_whose_end_cannot_be_noted_makes_room_for_the_next(end: str) -> None:
    received: list[Message] = []
    with app.connection_for_write() as link:
        for body in ("one", "two"):
            Producer(link).publish(body, routing_key=QUEUE)
        with Consumer(link, app.conf.task_queues, callbacks=[lambda _, message: received.append(message)]) as consumer:
            consumer.qos(prefetch_count=1)
            link.drain_events(timeout=5)
            assert [message.payload for message in received] == ["one"]
            _cut_all_others()
            getattr(received[0], end)()
            _drained(link, received)
    assert [message.payload for message in received] == ["one", "two"]


def _drained(link: Connection, received: list[Message]) -> None:
    """The pool may still hold a connection that was cut: whoever drains is told so, and tries again."""
    for _ in range(5):
        try:
            link.drain_events(timeout=5)
        except link.connection_errors:
            continue
        if len(received) > 1:
            return


def _cut_all_others() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user"
        )
        assert cursor.fetchone()[0]
