"""Replaying: the engine run again from the record alone, whatever became of the files, memories and people in it.

Whatever was recorded can be replayed: the tokens of its items are in the record, and the rest is less work than the
assembly itself was, which had a CPU budget. So a replay needs none.
"""

from assembly.engine.types import Assembled
from assembly.recorded import RecordDamaged, Recorded, Replay
from config.http.cpu_budget import unlimited_cpu


def replay(told: Recorded) -> Replay:
    """Assemble again from the record, and compare. Where the recorded tokens give another result, all are counted."""
    with unlimited_cpu():
        again = told.inputs.assembled()
        is_identical = _is_identical(told, again)
        if not is_identical:
            again = told.inputs.uncounted().assembled()
            is_identical = _is_identical(told, again)
    return Replay(is_identical, again.sha256, again.content)


def _is_identical(told: Recorded, again: Assembled) -> bool:
    fates = [(decision.section, decision.ref, decision.code) for decision in told.decisions]
    return bytes.fromhex(again.sha256) == bytes(told.assembly.sha256) and fates == [
        (decision.section, decision.ref, decision.code) for decision in again.decisions
    ]


def content_of(told: Recorded) -> str:
    """The exact text that was returned, replayed once. Raises RecordDamaged rather than show another one."""
    if not told.replayed:
        told.replayed.append(replay(told))
    (again, *_) = told.replayed
    if not again.identical:
        raise RecordDamaged("Its hash differs from the recorded one. Tell your admin: somebody changed the database.")
    return again.content
