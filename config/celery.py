"""This Celery application wakes workers, which do the jobs in the rows of `memories.models.Job`.

The broker is PostgreSQL by kombu's pgmq transport, unless CELERY_BROKER_URL names Redis or RabbitMQ. Any broker may
lose messages or deliver them twice; the rows are the truth. The transport here differs from kombu's in one point: if
the database cannot delete a message, kombu counts the message as being processed forever, and a worker that takes one
message at a time would never take another.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from celery import Celery
from django.conf import settings
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES, pgmq
from psycopg.conninfo import make_conninfo

from config.encrypted_transport import TLS_OPTIONS

logger = logging.getLogger(__name__)


class Channel(pgmq.Channel):
    """A channel that drops a message that the database could not delete.

    The message is delivered again later; the row of its job says then that the job is done.
    """

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        with self._forgotten(delivery_tag):
            super().basic_ack(delivery_tag, multiple)  # type: ignore[no-untyped-call]

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        with self._forgotten(delivery_tag):
            super().basic_reject(delivery_tag, requeue)  # type: ignore[no-untyped-call]

    @contextmanager
    def _forgotten(self, delivery_tag: str) -> Iterator[None]:
        """Count the message as processed after the block, even if the database failed."""
        try:
            yield
        except psycopg.Error as error:
            logger.warning("a message stays in the queue: %s", error)
            self.qos.ack(delivery_tag)


class Transport(pgmq.Transport):
    """A transport that connects as kombu's own does."""

    Channel: Any = Channel


QUEUE = "dossier_jobs"  # made by a migration; pgmq's names have at most 47 characters
VISIBILITY_SECONDS = 43_200  # longer than any job: a message that is seen again sooner would only be passed over


def transport_options(database: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with which pgmq connects to Django's database; the path of a socket folder does not fit into a
    URL.
    """
    named = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    facts = {ours: database[django] for ours, django in named.items() if database.get(django)}
    facts |= {name: value for name, value in database.get("OPTIONS", {}).items() if name in TLS_OPTIONS}
    # pool_size: connections that one of Celery's own keeps; `pool_timeout` is in seconds.
    return {"conn_string": make_conninfo(**facts), "init_extension": False, "pool_size": 2, "pool_timeout": 10}


# kombu silences this warning of pgmq around each call, in a way that another thread's call may undo.
warnings.filterwarnings("ignore", message=r"list_queues\(\) now returns", category=UserWarning)
TRANSPORT_ALIASES["pgmq"] = "config.celery:Transport"
_own_broker = settings.CELERY_BROKER_URL
app = Celery("dossier")
app.conf.update(
    broker_url=_own_broker or "pgmq://localhost",  # kombu wants a host; the options say where it is
    broker_transport_options={
        "visibility_timeout": VISIBILITY_SECONDS,
        **({} if _own_broker else transport_options(settings.DATABASE_DIRECT or settings.DATABASES["default"])),
    },
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # a broker may be away for long: the worker waits
    broker_heartbeat=0,  # a worker that runs a job answers nobody
    broker_pool_limit=4,
    # The app's role may not create tables, so it does not declare pgmq's queue either.
    task_queues=[Queue(QUEUE, no_declare=not _own_broker)],
    task_default_queue=QUEUE,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
)
app.autodiscover_tasks()
app.autodiscover_tasks(["memories.jobs"])  # no app of its own
app.set_default()  # for the threads of the web server, too
