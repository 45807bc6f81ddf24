"""The endpoints of subjects: for admin keys, with limits and clear errors."""

import uuid

import pytest

from agents.models import Agent
from memories.services import MemoryFacts, memory_create
from privacy.models import Subject
from teams.models import User
from teams.principal import SYSTEM
from tests.client import Api
from tests.privacy.subject_factories import NAME, run_scans, scanned_subject

pytestmark = pytest.mark.django_db

BODY = {
    "name": NAME,
    "kind": "customer",
    "identifiers": [
        {"kind": "email", "value": "zora.quell@example.org"},
        {"kind": "phone", "value": "+49 171 1234567"},
    ],
}


def test_a_subject_is_created_found_reviewed_and_handed_over(admin_api: Api, agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    made = admin_api.post("subjects", BODY)
    assert made.status_code == 201
    subject = made.json()
    assert made["Location"] == f"/api/v1/subjects/{subject['id']}"
    assert [one["kind"] for one in subject["identifiers"]] == ["name", "email", "phone"]
    run_scans()
    address = f"subjects/{subject['id']}"
    [mention] = admin_api.get(f"{address}/mentions?status=found&kind=memory").json()["results"]
    assert (mention["thing"], mention["spellings"], mention["decided_by"]) == (str(memory.id), [NAME], None)
    decided = admin_api.post(f"{address}/mentions", {"mentions": [mention["id"]], "status": "linked"})
    assert decided.json() == {"changed": 1}
    assert admin_api.get(address).json()["mentions"] == {"found": 0, "linked": 1, "dismissed": 0}
    file = admin_api.post(f"{address}/files")
    assert file.status_code == 201
    content = admin_api.get(f"{address}/files/{file.json()['id']}/content")
    assert (content.status_code, content["Content-Type"]) == (200, "application/zip")
    assert content.content.startswith(b"PK")


def test_it_is_saved_with_if_match_and_has_versions(admin_api: Api) -> None:
    subject = scanned_subject()
    address = f"subjects/{subject.id}"
    etag = admin_api.get(address)["ETag"]
    assert admin_api.get(address, if_none_match=etag).status_code == 304
    assert admin_api.put(address, BODY).status_code == 428
    saved = admin_api.put(address, {**BODY, "note": "Called."}, if_match=etag)
    assert (saved.status_code, saved.json()["version"]) == (200, 2)
    stale = admin_api.put(address, BODY, if_match=etag)
    assert (stale.status_code, stale.json()["current"]["note"]) == (412, "Called.")
    versions = admin_api.get(f"{address}/versions").json()["results"]
    assert [version["note"] for version in versions] == ["Called.", "Asked by letter."]
    same = admin_api.put(address, {**BODY, "note": "Called."}, if_match=saved["ETag"])
    assert same.json()["version"] == 2


def test_restrict_scan_and_delete(admin_api: Api) -> None:
    address = f"subjects/{scanned_subject().id}"
    assert admin_api.post(f"{address}/scan").status_code == 202
    assert admin_api.post(f"{address}/restriction", {"restricted": True}).json()["restricted_at"]
    refused = admin_api.delete(address)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert admin_api.post(f"{address}/restriction", {"restricted": False}).json()["restricted_at"] is None
    assert admin_api.delete(address).status_code == 204
    assert admin_api.get(address).status_code == 404


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "Z"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"kind": "robot"}, "kind"),
        ({"identifiers": [{"kind": "email", "value": "nothing"}]}, "identifiers"),
        ({"identifiers": [{"kind": "email", "value": "a@example.org"}] * 51}, "identifiers"),
        ({"identifiers": [{"kind": "other", "value": f"word {number}"} for number in range(50)]}, "identifiers"),
        ({"identifiers": [{"kind": "shoe", "value": "42"}]}, "identifiers"),
        ({"colour": "red"}, "colour"),
        ({"note": "x" * 2_001}, "note"),
    ],
)
def test_bad_values_are_named(change: dict[str, object], field: str, admin_api: Api) -> None:
    answer = admin_api.post("subjects", {**BODY, **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) for name in answer.json()["errors"])
    assert not Subject.objects.exists()


def test_search_takes_any_spelling_and_lists_are_paged(admin_api: Api) -> None:
    subject = scanned_subject()
    for query in ("Quell", "zora.quell@EXAMPLE.org", "(0171) 1234567", "+49 171 1234567"):
        found = admin_api.post("subjects/search", {"query": query}).json()["results"]
        expected = [str(subject.id)] if query != "(0171) 1234567" else []
        assert [one["id"] for one in found] == expected, query
    admin_api.post("subjects", {**BODY, "name": "Adam Quell"})
    page = admin_api.get("subjects?limit=1").json()
    assert [one["name"] for one in page["results"]] == ["Adam Quell"]
    assert [one["name"] for one in admin_api.get(page["next"]).json()["results"]] == [NAME]
    assert admin_api.get("subjects?status=open").status_code == 422
    assert admin_api.get(f"subjects/{subject.id}/mentions?kind=shoe").status_code == 422


def test_others_are_refused(agent_api: Api, owner: User, outsider: User, anonymous_api: Api) -> None:
    subject = scanned_subject()
    people = [Api(person=person.principal) for person in (owner, outsider)]
    for api in (agent_api, *people):
        for path in ("subjects", f"subjects/{subject.id}", f"subjects/{subject.id}/mentions"):
            answer = api.get(path)
            assert answer.status_code == 403
            assert b"Quell" not in answer.content
        assert api.post(f"subjects/{subject.id}/restriction", {"restricted": True}).status_code == 403
        assert api.post("subjects/search", {"query": "Quell"}).status_code == 403
    assert anonymous_api.get("subjects").status_code == 401


def test_a_file_of_another_subject_is_not_found(admin_api: Api) -> None:
    one, other = scanned_subject(), scanned_subject()
    file = admin_api.post(f"subjects/{one.id}/files").json()["id"]
    assert admin_api.get(f"subjects/{one.id}/files/{file}").status_code == 200
    assert admin_api.get(f"subjects/{other.id}/files/{file}").status_code == 404
    assert admin_api.get(f"subjects/{uuid.uuid4()}/files/{file}/content").status_code == 404
