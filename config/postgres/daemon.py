"""What makes a process one that lives on by itself."""

import logging
import logging.handlers
import os
from pathlib import Path

from config.postgres.server_log import LOG_BYTES


def detach_from_starter() -> None:
    """Go on as a child of init: whoever started us may live long, and would have to collect our remains."""
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # libpq would heed them


def log_to(file: Path) -> None:
    """Keep all loggers' words in the file, and at most 20 MiB of them."""
    log = logging.handlers.RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, delay=True)
    logging.basicConfig(handlers=[log], level=logging.INFO, format="%(asctime)s [%(process)d] %(message)s")


def close_standard_output() -> None:
    """Let go of what the starter gave us; it may be waiting for the end of our output."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if nothing > 2:  # noqa: PLR2004
        os.close(nothing)
