"""Every page and endpoint answers the same, whatever tier the memories, documents and events are in."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memories.embeddings.indexing import document_split
from memories.lifecycle import transitions
from memories.lifecycle.packing import pack
from memories.lifecycle.thing_tables import THING_TABLES
from memories.lifecycle.tiered_text import MARK
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Document
from tests.rights import test_pages, test_rest
from tests.rights.pages_table import rows as page_rows
from tests.rights.rest_table import rows as rest_rows
from tests.rights.visits import Answer
from tests.rights.world import LED, World

pytestmark = [pytest.mark.deep, pytest.mark.django_db]

Visit = Callable[[], Answer]
SEARCHES = re.compile(r"search|duplicates|assembl|contexts|conflicts|rerun|preview|what-if|proposals")
"""Routes that search, and so do not find what is cold."""
STORAGE = re.compile(r'<section class="sheet" id="storage">.*?</section>', re.DOTALL)


def visits(world: World) -> dict[str, Visit]:
    """Every visit of an admin of the organisation to what belongs to one team, by what is sent where."""
    found: dict[str, Visit] = {}
    owned = world.teams[LED]
    for route, needs in page_rows().items():
        if "account" not in needs.values() and route != "metrics":
            for method in needs:
                found[f"{method} {route}"] = _visit(test_pages.visited, route, method, owned, world)
    for route, needs in rest_rows().items():
        for method in needs:
            found[f"{method} api/{route}"] = _visit(test_rest.visited, route, method, owned, world)
    return found


def _visit(visited: Any, route: str, method: str, owned: Any, world: World) -> Visit:
    return lambda: visited(route, method, "admin", owned, world, answers={})


@pytest.fixture
def every_text_is_packed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> None:
    settings.FROZEN_FOLDER = tmp_path
    monkeypatch.setattr(transitions, "pack_if_smaller", pack)
    for document in Document.objects.all():
        document_split(id_=document.id)


def move_all(tier: Tier) -> None:
    for table in THING_TABLES:
        ids = list(table.model._default_manager.values_list("pk", flat=True))
        assert len(things_move(table, ids, tier)) == len(ids)


def test_every_page_and_endpoint_answers_as_before(world: World, every_text_is_packed: None) -> None:
    every = visits(world)
    before = {name: visit() for name, visit in every.items()}
    wrong = []
    for tier in (Tier.WARM, Tier.COLD, Tier.FROZEN):
        move_all(tier)
        answers = {name: visit() for name, visit in every.items()}
        wrong += [f"{tier}: {fault}" for fault in faults(tier, answers, before, world.teams[LED].secret)]
    assert not wrong, "\n".join(wrong)


def faults(tier: Tier, answers: Mapping[str, Answer], before: Mapping[str, Answer], secret: str) -> Iterator[str]:
    """Yield what is answered otherwise than when all was hot."""
    for name, answer in answers.items():
        hot = before[name]
        if answer.outcome != hot.outcome:
            yield f"{name}: {answer.status}, not {hot.status}"
        if MARK in answer.text or MARK[1:] in answer.text:
            yield f"{name}: a text is not unpacked"
        if tier is Tier.WARM or (name.startswith("GET") and not SEARCHES.search(name)):
            told, was = (STORAGE.sub("", one.text).count(secret) for one in (answer, hot))
            if told < was:
                yield f"{name}: the word is there {told} times, not {was}"
