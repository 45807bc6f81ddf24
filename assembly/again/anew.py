"""Gathering anew for a recorded request: as an assembly does it, but nothing is recorded and no model is asked."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assembly.again.asking import Whom
from assembly.asked import Asked
from assembly.gathered import SourceReport
from assembly.preparation import Prepared, gather_for, prepare
from assembly.recorded import Inputs
from assembly.settling import Settled, settle
from assembly.time_budget import TimeBudget
from config.http.errors import NotFound
from config.tokens import get_tokenizer


@dataclass(frozen=True, slots=True)
class Anew:
    """What the sources have for the request today. `session_gone`: the one that it named is not there any more."""

    inputs: Inputs
    reports: Sequence[SourceReport]
    session_gone: bool


def gathered_anew(whom: Whom, asked: Asked, now: datetime.datetime) -> Anew:
    """What the request would be made of at that moment. Raises as `assembly.service.assemble` does."""
    prepared, session_gone = _prepared(whom, asked, now)
    gathered = gather_for(prepared, TimeBudget.begun_now())
    ruled = prepared.under_rules(gathered.situation)
    return Anew(Inputs(ruled.request, ruled.profile, tuple(gathered.candidates)), gathered.reports, session_gone)


def settled_without_asking(inputs: Inputs) -> Settled:
    """The engine's result for them; what a model would be asked to summarise is extracted."""
    request = inputs.request
    tokenizer = get_tokenizer(request.tokenizer)
    return settle(request, inputs.profile, inputs.candidates, tokenizer, TimeBudget.begun_now(), ask_model=False)


def _prepared(whom: Whom, asked: Asked, now: datetime.datetime) -> tuple[Prepared, bool]:
    try:
        return prepare(whom.agent, whom.team, asked, now), False
    except NotFound:  # nothing but a session can be missing
        return prepare(whom.agent, whom.team, replace(asked, session=""), now), True
