"""The heavy process answers one connection per request, limits its own memory, and ends with its parent."""

import asyncio
import logging
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

from config.server.heavy_lane import Application, answer_one
from config.server.memory_settings import release_memory

NICENESS = 10
"""The niceness that is added to the process, so that other requests get the processors first."""
CONCURRENCY, MAX_PER_CALLER, THREADS = 2, 1, 6
"""The maximum number of costly requests in progress, of those of one caller, and of threads."""
COUNTED_SECONDS = 60.0
GROWTH_BYTES = 40_000_000
"""Memory growth, in bytes, after which the process is replaced."""
HEADROOM_BYTES = 1_500_000_000
"""Address space that requests may use together, in bytes; a larger allocation fails, which protects the machine."""
FINISH_SECONDS = 15.0
BACKLOG = 512

logger = logging.getLogger(__name__)


class HeavyServer:
    """A server that runs until SIGTERM, until its input ends, or until it has grown too much; then it finishes its
    requests.
    """

    def __init__(self, application: Application, path: Path) -> None:
        self._application = application
        self._path = path
        self._open: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()
        self._start_bytes = 0
        self.has_grown = False

    async def run(self) -> None:
        """Serve. Afterwards no process listens at the path."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self._closing.set)
        loop.add_reader(sys.stdin.fileno(), self._read_input)
        self._start_bytes = resident_bytes()
        limit_address_space()
        self._path.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._serve, self._path, backlog=BACKLOG)
        await self._closing.wait()
        self._path.unlink(missing_ok=True)
        server.close()
        if self._open:
            await asyncio.wait(self._open, timeout=None if self.has_grown else FINISH_SECONDS)

    def _read_input(self) -> None:
        if not os.read(sys.stdin.fileno(), 1):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self.has_grown = False
            self._closing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closing.is_set():  # it was accepted just before; whoever sent it asks the next process
            writer.close()
            return
        task = asyncio.ensure_future(answer_one(self._application, reader, writer))
        self._open.add(task)
        task.add_done_callback(self._served)
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])

    def _served(self, task: "asyncio.Task[None]") -> None:
        self._open.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("a costly request failed", exc_info=error)
        if resident_bytes() - self._start_bytes > GROWTH_BYTES:
            release_memory()
            if resident_bytes() - self._start_bytes > GROWTH_BYTES and not self._closing.is_set():
                self.has_grown = True
                self._closing.set()


def resident_bytes() -> int:
    """Return the resident memory of this process, in bytes, without mapped files."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return (int(fields[1]) - int(fields[2])) * resource.getpagesize()


def limit_address_space() -> None:
    """Limit the address space that requests may allocate."""
    size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + HEADROOM_BYTES, hard))


def lower_priority() -> None:
    """Lower the priority of this process."""
    with suppress(OSError):
        os.nice(NICENESS)


def serve_heavy(application: Application, path: Path) -> bool:
    """Serve until the end; return whether another process should take over because this one has grown."""

    async def serving() -> HeavyServer:
        server = HeavyServer(application, path)
        await server.run()
        return server

    return asyncio.run(serving()).has_grown
