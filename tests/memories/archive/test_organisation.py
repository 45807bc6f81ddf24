"""The organisation's files in archives: byte for byte, with their titles, and imported by admins alone."""

import json
from typing import Any

import pytest

from memories.archive.sections import scope_of_everything
from memories.archive.services import import_begin, import_create
from memories.models import ImportPlan
from teams.models import OrganisationFile, Team
from teams.organisation.services import (
    organisation_file_create,
    organisation_file_delete,
    organisation_file_rename,
)
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import file_save
from tests.archives import edited, packed, texts_in, zipped
from tests.memories.archive.conftest import EXACT

pytestmark = pytest.mark.django_db
VOICE, TITLES = "organisation/brand-voice.md", "organisation/organisation.json"


@pytest.fixture
def voice(db: None) -> OrganisationFile:
    return organisation_file_create(key="brand-voice", title="Brand “voice”", content=EXACT, principal=SYSTEM)


def exported() -> bytes:
    return zipped(scope_of_everything(SYSTEM))


def planned(archive: bytes, principal: Principal = SYSTEM) -> ImportPlan:
    return import_create(archive=archive, file_name="all.zip", principal=principal)


def applied(archive: bytes, *chosen: str) -> Any:
    plan = import_begin(plan=planned(archive), chosen=chosen, principal=SYSTEM)
    assert [outcome["left"] for outcome in plan.outcome.values() if outcome["left"]] == []
    return OrganisationFile.objects.get(file_key="brand-voice")


def states(archive: bytes, principal: Principal = SYSTEM) -> dict[str, str]:
    return {step["name"]: step["state"] for step in planned(archive, principal).steps}


def with_title(archive: bytes, title: Any) -> bytes:
    def change(text: str) -> str:
        said = json.loads(text)
        said["files"]["brand-voice"]["title"] = title
        return json.dumps(said)

    return edited(archive, TITLES, change)


def test_a_file_comes_back_byte_for_byte(voice: OrganisationFile) -> None:
    archive = exported()
    assert archive == exported()
    assert texts_in(archive)[VOICE] == EXACT.encode()
    assert planned(archive).steps == []
    organisation_file_delete(file=voice, principal=SYSTEM)
    restored = applied(archive)
    assert (restored.title, restored.content, restored.version) == ("Brand “voice”", EXACT, 1)
    assert restored.versions.get().note == "Imported from all.zip"
    assert exported() == archive


def test_an_installation_without_files_has_no_section(team: Team) -> None:
    assert {name.split("/")[0] for name in texts_in(exported())} == {"teams"}


def test_a_changed_text_becomes_the_next_version(voice: OrganisationFile) -> None:
    archive = edited(exported(), VOICE, lambda _: "Other words.")
    assert states(archive) == {VOICE: "changed"}
    changed = applied(archive)
    assert (changed.version, changed.content, changed.title) == (2, "Other words.", "Brand “voice”")


def test_what_was_changed_here_stays_unless_chosen(voice: OrganisationFile) -> None:
    archive = exported()
    file_save(file=voice, content="Newer here.", expected_version=1, author=SYSTEM.author)
    assert states(archive) == {VOICE: "newer"}
    assert states(edited(archive, VOICE, lambda _: "There, too.")) == {VOICE: "both"}
    assert applied(archive).content == "Newer here."
    assert applied(archive, VOICE).content == EXACT


def test_a_title_alone_may_differ(voice: OrganisationFile) -> None:
    archive = with_title(exported(), "Voice")
    (step,) = planned(archive).steps
    assert (step["state"], step["reason"]) == (
        "changed", "Its text is the same; in the archive its title is “Voice”.",
    )  # fmt: skip
    assert applied(archive).title == "Voice"
    assert states(with_title(exported(), "Voice")) == {}
    before = exported()
    organisation_file_rename(file=voice, title="Renamed here", expected_version=2, principal=SYSTEM)
    assert states(before) == {VOICE: "newer"}


def test_a_title_that_was_changed_here_stays_when_the_archive_changes_the_text(voice: OrganisationFile) -> None:
    archive = edited(exported(), VOICE, lambda _: "Other words.")
    renamed = organisation_file_rename(file=voice, title="Renamed here", expected_version=1, principal=SYSTEM)
    assert states(archive) == {VOICE: "changed"}
    assert states(with_title(archive, "Renamed there")) == {VOICE: "both"}
    assert applied(with_title(archive, "Renamed there")).version == renamed.version
    changed = applied(archive)
    assert (changed.title, changed.content) == ("Renamed here", "Other words.")


def test_a_file_without_a_title_gets_one_from_its_key(db: None) -> None:
    assert applied(packed({VOICE: "By hand."})).title == "Brand Voice"


@pytest.mark.parametrize("name", ["Brand Voice.md", f"{'x' * 61}.md"])
def test_a_name_that_is_no_key_is_refused(name: str, db: None) -> None:
    (step,) = planned(packed({f"organisation/{name}": "x"})).steps
    assert step["state"] == "refused"
    assert "key" in step["reason"]


@pytest.mark.parametrize("title", ["Two\nlines", "x" * 121, 7])
def test_a_title_that_cannot_be_one_is_refused(title: Any, voice: OrganisationFile) -> None:
    archive = with_title(edited(exported(), VOICE, lambda _: "Other."), title)
    (step,) = planned(archive).steps
    assert step["state"] == "refused"


def test_only_admins_import_it(voice: OrganisationFile, team: Team) -> None:
    archive = packed({VOICE: "Mine."})
    (step,) = planned(archive, Principal(kind="agent_key", team_ids=frozenset({team.id}))).steps
    assert step["state"] == "refused"
    assert "Only an admin of the organisation" in step["reason"]
