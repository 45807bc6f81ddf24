"""A real Redis server on a free port, for tests and benchmarks: Debian's, without persistence."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def is_missing() -> bool:
    """Return whether there is no Redis server here. In continuous integration, which installs one, that is an error."""
    if shutil.which("redis-server"):
        return False
    assert not os.environ.get("CI"), "continuous integration installs Debian's redis-server"
    return True


needs_redis = pytest.mark.skipif(is_missing(), reason="needs the program redis-server")


@contextmanager
def running_redis(*options: str) -> Iterator[str]:
    """The address of a server for as long as the block runs."""
    with free_port() as port:
        pass
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(timeout=30)


@contextmanager
def free_port() -> Iterator[int]:
    """A port of this machine on which nobody answers within the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield free.getsockname()[1]


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("redis-server did not answer")
