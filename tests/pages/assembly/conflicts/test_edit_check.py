"""After an edit, a person is told on the page, and over REST, what the closer comparison of a worker found."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from assembly.conflicts.find import noted_conflicts_find
from assembly.conflicts.language_model import model_in_use as in_use
from assembly.conflicts.services import EditedSide, conflict_edit, conflict_resolve, conflict_undo
from assembly.models import Conflict
from teams.models import User
from tests.assembly.conflicts.conflict_factories import conflict_between, remember, run_jobs
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN, write_model
from tests.client import Api
from tests.pages.conftest import SignedIn, text_of

NO_BEEF = "The school canteen never cooks beef stew."


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


@pytest.fixture(autouse=True)
def model(tmp_path: Path, settings: Any) -> Iterator[None]:
    in_use._model_of.cache_clear()
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path / "tiny-nli")
    yield
    in_use._model_of.cache_clear()


def edit(agent: Agent, editor: User, text: str) -> Conflict:
    """Give the memory that denies what the other one says this text."""
    conflict = conflict_between(remember(agent, BEEF), remember(agent, NO_BEEF), kind="negation")
    side: EditedSide = "left" if conflict.left_statement == NO_BEEF else "right"
    return conflict_edit(conflict=conflict, side=side, text=text, principal=editor.principal)


def edit_check(conflict: Conflict, editor: User) -> Any:
    """This returns what REST says about the edit."""
    return Api(person=editor.principal).get(f"conflicts/{conflict.id}").json()["edit_check"]


def test_an_edited_text_that_still_contradicts_the_other_one(browser: Client, agent: Agent, editor: User) -> None:
    edited = edit(agent, editor, VEGAN)
    address = f"/conflicts/{edited.id}/"
    assert edit_check(edited, editor) == {"pending": True, "conflict": None}
    assert "The edited text is being compared more closely" in text_of(browser.get(address))
    noted_conflicts_find()
    assert edit_check(edited, editor) == {"pending": True, "conflict": None}, "a job has taken it"
    run_jobs()
    remaining = Conflict.objects.get(status="open")
    assert remaining.model.startswith("tiny-nli@")
    assert edit_check(edited, editor) == {"pending": False, "conflict": str(remaining.id)}
    page = text_of(browser.get(address))
    assert "The edited text still contradicts the other one" in page
    assert f'href="/conflicts/{remaining.id}/"' in page
    assert "compared more closely" not in page
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
    conflict_resolve(conflict=remaining, choice="both", principal=editor.principal)
    assert edit_check(edited, editor) == {"pending": False, "conflict": None}
    assert "still contradicts" not in text_of(browser.get(address))
    conflict_undo(conflict=edited, principal=editor.principal)
    assert edit_check(edited, editor) is None


def test_an_edited_text_that_agrees(browser: Client, agent: Agent, editor: User) -> None:
    edited = edit(agent, editor, "The school canteen cooks beef stew on most days.")
    run_jobs()
    assert edit_check(edited, editor) == {"pending": False, "conflict": None}
    page = text_of(browser.get(f"/conflicts/{edited.id}/"))
    assert "One of the texts was edited to agree with the other one." in page
    assert "still contradicts" not in page
    assert "compared more closely" not in page
