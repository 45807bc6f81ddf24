"""Something that runs beside a request, in a thread of its own, as part of the same trace and the same log lines."""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Beside(Generic[Result]):
    """A call that has begun. It is to end by itself: nobody waits for it longer than they like."""

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
        """What it returned or raised. Raises TimeoutError where it is not done after so many seconds."""
        return self._future.result(timeout=seconds)
