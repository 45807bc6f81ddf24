"""The sweep: what a worker does beside its jobs, at its start and every JOB_PATIENCE_SECONDS."""

import logging
import threading
import time

from django.db import connection

from memories.jobs import jobs_sweep, patience

logger = logging.getLogger(__name__)


def start_sweeping() -> None:
    """Sweep in a thread until this process ends. Many may: each job is sent again by one of them."""
    threading.Thread(target=_sweep_for_ever, name="sweep", daemon=True).start()


def _sweep_for_ever() -> None:
    while True:
        try:
            if sent := jobs_sweep():
                logger.info("sent %d silent jobs again", sent)
        except Exception:
            logger.exception("the sweep failed; the next one is in %d s", patience().seconds)
        finally:
            connection.close()
        time.sleep(patience().total_seconds())
