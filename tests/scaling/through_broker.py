"""A pytest plugin with which the tests of jobs send their messages by Redis or RabbitMQ, and workers get them there:
`pytest -p tests.scaling.through_broker --broker redis tests/memories/jobs tests/faults/test_worker_kills.py`.

The broker runs for the whole run, so it must be one without `-n`: of two tests at once, the workers of one would take
the messages of the other.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack

import pytest

from tests.scaling.debian_servers import rabbitmq, redis, require_program

BROKERS: Mapping[str, tuple[str, Callable[[], AbstractContextManager[str]]]] = {
    "redis": ("redis-server", redis),
    "rabbitmq": ("rabbitmq-server", rabbitmq),
}
_running = ExitStack()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the broker."""
    parser.addoption("--broker", choices=sorted(BROKERS), default="redis", help="the broker of the tests of jobs")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(args: list[str]) -> None:
    """Start the broker, and name it, before Django and Celery read their settings. A missing program fails the run."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--broker", choices=sorted(BROKERS), default="redis")
    program, start = BROKERS[options.parse_known_args(args)[0].broker]
    require_program(program)
    os.environ["CELERY_BROKER_URL"] = _running.enter_context(start())


def pytest_report_header() -> str:
    """Say which broker it is, so that a log shows it."""
    return f"broker: {os.environ['CELERY_BROKER_URL']}"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """End the broker."""
    _running.close()
