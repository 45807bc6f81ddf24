"""Again today: what a recorded request would be answered with now, beside what it was answered with then."""

import datetime
from dataclasses import dataclass

from django.utils import timezone

from assembly.again.anew import gathered_anew, settled_without_asking
from assembly.again.asking import asked_again, whom_of
from assembly.again.beside import Beside
from assembly.again.cause import Cause
from assembly.again.explaining import Explained, deeds_of, explained
from assembly.again.meantime import today_of
from assembly.again.side import side_made, side_recorded
from assembly.models import Assembly
from assembly.recorded import recorded


@dataclass(frozen=True, slots=True)
class Again:
    """The context then and today. `changes` are those of the comparison, each with its causes."""

    assembly: Assembly
    now: datetime.datetime
    beside: Beside
    changes: tuple[Explained, ...]
    session_gone: bool
    """The request named a session that is not there any more: today's context is without it."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What was changed since, each once."""
        return deeds_of(self.changes)


def again_today(assembly: Assembly) -> Again:
    """Assemble the recorded request for this moment. Nothing is recorded, no model is asked, no agent notices.

    Raises NobodyLeft where the agent or its team was deleted, RecordDamaged, and what `assembly.service.assemble` does:
    Invalid for a profile or a tokenizer that is not there any more, or a team in which the agent works no longer.
    """
    told, now = recorded(assembly), timezone.now()
    before, whom = side_recorded(told), whom_of(assembly)
    anew = gathered_anew(whom, asked_again(told), now)
    after = side_made(anew.inputs, settled_without_asking(anew.inputs), anew.reports)
    beside = Beside.of(before, after)
    return Again(assembly, now, beside, explained(beside, today_of(assembly)), anew.session_gone)
