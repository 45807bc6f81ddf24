"""This module runs a call in a background thread, so that nobody waits for it longer than they want.

A name server that does not answer cannot be interrupted; the thread then continues alone until its lookup ends.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class BackgroundCall(Generic[Result]):
    """A call in a background thread, which ends by itself."""

    def __init__(self, name: str, call: Callable[[], Result]) -> None:
        self._future: Future[Result] = Future()
        context = copy_context()
        Thread(target=context.run, args=(self._run, call), name=name, daemon=True).start()

    def _run(self, call: Callable[[], Result]) -> None:
        try:
            self._future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for the result
            self._future.set_exception(error)

    def result(self, *, seconds: float) -> Result:
        """Return the result of the call, or raise its error. Raises TimeoutError after this many seconds."""
        return self._future.result(timeout=seconds)


def run_in_background(name: str, call: Callable[[], Coroutine[Any, Any, Result]], *, seconds: float) -> Result:
    """Return the result of the coroutine, which runs in an event loop of a thread with this name.
    Raises TimeoutError.
    """
    return BackgroundCall(name, lambda: asyncio.run(call())).result(seconds=seconds)
