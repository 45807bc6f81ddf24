"""Asking the server for several summaries at once, within a deadline that nothing outlives. No database is touched."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from assembly.engine.codes import SourceCode
from assembly.external.resolving import addresses_of
from assembly.summarising.conversation import Question
from assembly.summarising.exchange import client_for, summary_by
from assembly.summarising.server import Server
from config.http.answers import Failed

CLOSING_SECONDS = 0.01
"""Kept of the deadline to break off and close what is still under way."""
MOST_ADDRESSES = 4
"""Of the server's host that are tried."""
TOO_LATE = "It did not answer in time"


@dataclass(slots=True)
class Told:
    """What came in time: summaries and faults, each by its text. Texts that are in neither were not answered."""

    summaries: dict[str, str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    late: int = 0

    @contextmanager
    def what_comes_of(self, question: Question) -> Iterator[None]:
        """Takes down why there is no summary: whatever one answer brings about, the others and the context go on."""
        try:
            yield
        except Failed as failure:
            self.faults[question.text] = str(failure)
        except Exception as error:  # noqa: BLE001
            self.faults[question.text] = f"It could not be asked ({type(error).__name__})."

    @property
    def code(self) -> SourceCode | None:
        """What went wrong, if anything did: time first."""
        if self.late:
            return SourceCode.SOURCE_TIMEOUT
        return SourceCode.SOURCE_FAILED if self.faults else None

    @property
    def fault(self) -> str:
        """The same in plain words, "" where nothing did, and of how many texts it is true."""
        asked = len(self.summaries) + len(self.faults) + self.late
        if self.late:
            return f"{TOO_LATE} ({self.late} of {asked} texts)."
        if not self.faults:
            return ""
        return f"{next(iter(self.faults.values()))} ({len(self.faults)} of {asked} texts failed.)"


def ask(server: Server, questions: Sequence[Question], *, seconds: float) -> Told:
    """What the server told within so many seconds; by then, everything is closed.

    For a thread without an event loop: it runs one of its own.
    """
    told = Told()
    seconds = min(seconds, server.timeout_ms / 1000) - CLOSING_SECONDS
    if questions and seconds > 0:
        asyncio.run(_ask_all(server, questions, seconds, told))
    told.late = len(questions) - len(told.summaries) - len(told.faults)
    return told


async def _ask_all(server: Server, questions: Sequence[Question], seconds: float, told: Told) -> None:
    try:
        async with asyncio.timeout(seconds), client_for(server) as client:
            addresses = (await addresses_of(server.host))[:MOST_ADDRESSES]

            async def ask_one(question: Question) -> None:
                with told.what_comes_of(question):
                    said = await summary_by(client, server, addresses, question, seconds=seconds)
                    told.summaries[question.text] = said

            async with asyncio.TaskGroup() as group:
                for question in questions:
                    group.create_task(ask_one(question))
    except TimeoutError:
        return
