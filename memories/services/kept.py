"""Writes about the things that an agent keeps: one way to make, change and delete them, whatever they are."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from agents.models import Agent
from memories.models.kept import Kept
from teams.principal import Principal

Thing = TypeVar("Thing", bound=Kept)
Facts = Mapping[str, Any]
"""Values by the names of the model's fields."""


def kept_create(*, model: type[Thing], agent: Agent, facts: Sequence[Facts], principal: Principal) -> list[Thing]:
    """New things of an agent, all or none; those whose external id the agent has already are passed over."""
    raise NotImplementedError


def kept_update(*, thing: Thing, expected_version: int, changes: Facts, principal: Principal) -> Thing:
    """Save the thing's next state; where nothing differs, its version stays. Raises StaleVersion."""
    raise NotImplementedError


def kept_delete(*, thing: Kept, principal: Principal) -> None:
    """Delete the thing and what hangs on it. Assemblies that used it keep its text in their record."""
    raise NotImplementedError
