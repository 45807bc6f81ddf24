"""Many editors of one file at the same time: every save is a version or a told conflict, and no text is lost."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from teams.models import Team, TeamFile, User
from teams.principal import Role
from teams.services import membership_set
from teams.versioned_text.drafts import Draft
from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")

ADDRESS = "/teams/care/files/GOALS/"
EDITORS, SAVES = (50, 100) if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else (8, 3)
SCRIPT = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = tmp_path


def write(team: Team, number: int) -> list[tuple[str, int]]:
    """One editor's saves: each text with the status that answered it. What was refused must still be the draft."""
    person = User.objects.create_user(f"editor{number}")
    membership_set(team=team, user=person, role=Role.EDITOR)
    browser, saves, version, revision = Client(), [], 1, 0
    browser.force_login(person)
    for save in range(SAVES):
        text = f"editor {number}, save {save}"
        sent = {"deed": "keep", "content": text, "version": version, "revision": revision}
        kept = browser.post(ADDRESS, sent, headers=SCRIPT)
        assert kept.status_code == 200, kept.content
        response = browser.post(ADDRESS, {"deed": "publish", "revision": kept.json()["revision"], "note": text})
        saves.append((text, response.status_code))
        draft = Draft.objects.filter(person=person).first()
        assert (draft.content if draft else None) == (text if response.status_code == 412 else None)
        version = browser.post(ADDRESS, {"deed": "here"}, headers=SCRIPT).json()["published"]
        revision = draft.revision if draft else 0
        connections.close_all()  # there are more editors than connections
    return saves


def test_every_save_is_a_version_or_a_told_conflict(team: Team) -> None:
    saves = [save for saves in at_once([partial(write, team, n) for n in range(EDITORS)]) for save in saves]
    assert {status for _, status in saves} == {302, 412}
    published = {text for text, status in saves if status == 302}
    versions = TeamFile.objects.get(team=team, file_key="GOALS").versions
    stored = dict(versions.values_list("version", "content"))
    assert sorted(stored) == list(range(1, len(stored) + 1))
    assert sorted(stored.values()) == sorted(["", *published])
    assert set(versions.exclude(version=1).values_list("note", flat=True)) == published
    last_of_each = saves[SAVES - 1 :: SAVES]
    refused = {text for text, status in last_of_each if status == 412}
    assert set(Draft.objects.values_list("content", flat=True)) == refused
