"""Files of the organisation over REST: as those of teams, but created, renamed and deleted, and read by every key."""

from collections.abc import Callable

import pytest

from teams.models import OrganisationFile, User
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db
FILES = "organisation/files"
VOICE = f"{FILES}/brand-voice"
NEW = {"key": "brand-voice", "title": "Brand voice", "content": "Plain words.\n"}


def test_the_story_of_a_file(admin_api: Api, agent_api: Api) -> None:
    made = admin_api.post(FILES, {**NEW, "note": "First"})
    assert made.status_code == 201
    assert (made["Location"], made["ETag"]) == (f"/api/v1/{VOICE}", '"1"')
    assert made.json().items() >= {**NEW, "version": 1}.items()
    saved = admin_api.put(VOICE, {"content": "Plainer words.\n", "note": "Shorter"}, if_match='"1"')
    assert saved.json().items() >= {"content": "Plainer words.\n", "version": 2, "title": "Brand voice"}.items()
    renamed = admin_api.patch(VOICE, {"title": "Voice"}, if_match=saved["ETag"])
    assert renamed.json().items() >= {"content": "Plainer words.\n", "version": 3, "title": "Voice"}.items()
    (row,) = agent_api.get(FILES).json()["results"]
    assert row.keys() == {"key", "title", "version", "updated_by", "updated_at", "origin", "sensitivity"}
    assert row["updated_by"]["name"] == "Ops"
    versions = agent_api.get(f"{VOICE}/versions").json()["results"]
    assert [(one["version"], one["title"], one["note"]) for one in versions] == [
        (3, "Voice", "Renamed to “Voice”"), (2, "Brand voice", "Shorter"), (1, "Brand voice", "First"),
    ]  # fmt: skip
    assert agent_api.get(f"{VOICE}/versions/1").json()["content"] == "Plain words.\n"
    compared = agent_api.get(f"{VOICE}/versions/1/compare?with=2").json()
    assert (compared["from"], compared["to"], compared["changes"]) == (1, 2, 1)
    assert admin_api.delete(VOICE, if_match='"3"').status_code == 204
    assert problem(agent_api.get(VOICE)) == (404, "not_found")


def test_the_version_that_a_change_is_based_on_is_named(admin_api: Api) -> None:
    admin_api.post(FILES, NEW)
    assert problem(admin_api.put(VOICE, {"content": "x"}))[0] == 428
    assert problem(admin_api.patch(VOICE, {"title": "x"}))[0] == 428
    admin_api.put(VOICE, {"content": "Newer"}, if_match='"1"')
    stale = admin_api.put(VOICE, {"content": "x"}, if_match='"1"')
    assert problem(stale) == (412, "stale_version")
    assert stale.json()["current"]["content"] == "Newer"
    assert problem(admin_api.patch(VOICE, {"title": "x"}, if_match='"1"')) == (412, "stale_version")
    assert problem(admin_api.delete(VOICE, if_match='"1"')) == (412, "stale_version")
    assert admin_api.get(VOICE, if_none_match='"2"').status_code == 304


def test_a_file_is_created_once_and_by_post(admin_api: Api) -> None:
    admin_api.post(FILES, NEW)
    assert problem(admin_api.post(FILES, NEW)) == (409, "conflict")
    assert problem(admin_api.put(VOICE, {"content": "x"}, if_none_match="*")) == (412, "precondition_failed")
    assert problem(admin_api.put(f"{FILES}/other", {"content": "x"}, if_none_match="*")) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"key", "title"}),
        ({**NEW, "key": "Brand Voice"}, {"key"}),
        ({**NEW, "key": "x" * 61}, {"key"}),
        ({**NEW, "title": "Two\nlines"}, {"title"}),
        ({**NEW, "title": "x" * 121}, {"title"}),
        ({**NEW, "content": "x" * 1_000_001}, {"content"}),
        ({**NEW, "team": "care"}, {"team"}),
    ],
)
def test_bad_input_names_the_field(body: dict[str, str], fields: set[str], admin_api: Api) -> None:
    assert errors_of(admin_api.post(FILES, body)) == fields
    assert not OrganisationFile.objects.exists()


def test_only_admins_of_the_organisation_write(
    admin_api: Api, agent_api: Api, owner: User, as_person: Callable[[User], Api]
) -> None:
    admin_api.post(FILES, NEW)
    for api in (agent_api, as_person(owner)):
        assert api.get(VOICE).json()["content"] == "Plain words.\n"
        assert problem(api.post(FILES, {**NEW, "key": "other"})) == (403, "forbidden")
        assert problem(api.put(VOICE, {"content": "x"}, if_match='"1"')) == (403, "forbidden")
        assert problem(api.patch(VOICE, {"title": "x"}, if_match='"1"')) == (403, "forbidden")
        assert problem(api.delete(VOICE)) == (403, "forbidden")
        assert problem(api.delete(f"{FILES}/nothing")) == (404, "not_found")


def test_the_list_goes_on(admin_api: Api) -> None:
    for number in range(3):
        admin_api.post(FILES, {"key": f"file-{number}", "title": f"File {3 - number}"})
    first = admin_api.get(f"{FILES}?limit=2").json()
    assert [row["key"] for row in first["results"]] == ["file-0", "file-1"]
    assert [row["key"] for row in admin_api.get(first["next"]).json()["results"]] == ["file-2"]
