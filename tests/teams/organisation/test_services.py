"""Files of the organisation: created, renamed and deleted, each with an entry of the activity log."""

import pytest

from config.http.errors import Conflict, Forbidden, NotFound
from teams.access import organisation_file_for
from teams.models import Activity, Erasure, OrganisationFile, OrganisationFileVersion, User
from teams.organisation.services import (
    organisation_file_create,
    organisation_file_delete,
    organisation_file_rename,
)
from teams.principal import SYSTEM, Action, Principal
from teams.versioned_text.drafts import Draft, draft_save
from teams.versioned_text.versioned_file import StaleVersion, file_save

pytestmark = pytest.mark.django_db


def brand_voice(content: str = "Plain words.") -> OrganisationFile:
    return organisation_file_create(key="brand-voice", title="Brand voice", content=content, principal=SYSTEM)


def test_each_key_is_used_once(db: None) -> None:
    brand_voice()
    with pytest.raises(Conflict, match="brand-voice"):
        brand_voice()
    organisation_file_create(key="glossary", title="Brand voice", principal=SYSTEM)
    assert OrganisationFile.objects.count() == 2


def test_a_title_belongs_to_the_version(admin: User) -> None:
    file = brand_voice()
    renamed = organisation_file_rename(file=file, title="Voice", expected_version=1, principal=admin.principal)
    assert (renamed.version, renamed.title, renamed.content) == (2, "Voice", "Plain words.")
    assert list(OrganisationFileVersion.objects.values_list("version", "title", "note", "editor_name")) == [
        (2, "Voice", "Renamed to “Voice”", "Grace Admin"),
        (1, "Brand voice", "", "Dossier"),
    ]
    saved = file_save(file=renamed, content="Other words.", expected_version=2, author=SYSTEM.author)
    assert (saved.version, OrganisationFileVersion.objects.get(version=3).title) == (3, "Voice")


def test_the_same_title_makes_no_version_and_an_old_version_is_refused(db: None) -> None:
    file = brand_voice()
    same = organisation_file_rename(file=file, title="Brand voice", expected_version=1, principal=SYSTEM)
    assert same.version == 1
    file_save(file=file, content="Other words.", expected_version=1, author=SYSTEM.author)
    with pytest.raises(StaleVersion):
        organisation_file_rename(file=file, title="Voice", expected_version=1, principal=SYSTEM)


def test_deleting_takes_the_history_and_leaves_drafts(admin: User, teammate: User) -> None:
    file = brand_voice()
    draft_save(person_id=teammate.id, about=file.about, content="Mine", based_on=1, expected_revision=0)
    organisation_file_delete(file=file, principal=admin.principal)
    assert not OrganisationFile.objects.exists()
    assert not OrganisationFileVersion.objects.exists()
    assert Erasure.objects.get().kind == "organisation_files"
    assert Draft.objects.get().content == "Mine", "everybody could read the text that it repeats"
    with pytest.raises(NotFound):
        organisation_file_delete(file=file, principal=admin.principal)


def test_the_activity_log_has_what_was_done(admin: User) -> None:
    file = organisation_file_create(key="brand-voice", title="Brand voice", principal=admin.principal)
    organisation_file_rename(file=file, title="Voice", expected_version=1, principal=admin.principal)
    organisation_file_delete(file=OrganisationFile.objects.get(), principal=admin.principal)
    assert list(Activity.objects.order_by("id").values_list("action", "target", "actor_name", "team_ids")) == [
        ("organisation_file.created", "Brand voice", "Grace Admin", []),
        ("organisation_file.renamed", "Voice", "Grace Admin", []),
        ("organisation_file.deleted", "Voice", "Grace Admin", []),
    ]


@pytest.mark.parametrize("action", [Action.EDIT, Action.MANAGE])
def test_everybody_reads_and_admins_write(action: Action, admin: User, teammate: User) -> None:
    brand_voice()
    readers = [admin.principal, teammate.principal, Principal(kind="agent_key")]
    assert [organisation_file_for(one, "brand-voice").title for one in readers] == ["Brand voice"] * 3
    assert organisation_file_for(admin.principal, "brand-voice", action).version == 1
    for one in readers[1:]:
        with pytest.raises(Forbidden):
            organisation_file_for(one, "brand-voice", action)
        with pytest.raises(NotFound):
            organisation_file_for(one, "nothing", action)
