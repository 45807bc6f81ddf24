"""What a source is: the only kind of thing that reads the database for an assembly."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.models import Agent
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from teams.models import Team


@dataclass(frozen=True, slots=True)
class Situation:
    """Whom a context is for. `vector` is the topic's direction, None without one; `now` has a time zone."""

    agent: Agent
    team: Team | None
    vector: NDArray[np.float32] | None
    now: datetime.datetime


@dataclass(frozen=True, slots=True)
class Gathered:
    """The rows that a source returned, and how many it would have returned at most."""

    candidates: Sequence[Candidate]
    limit: int


Source = Callable[[Situation, Sequence[Section]], Gathered]
"""Gets all of a profile's sections that name it, so that one query can serve them all."""
