"""An installation of commit 1ba078c is upgraded: no row is lost, records replay to the byte, every seal holds."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.test import Client

from agents.models import ApiKey
from memories.models import Event
from memories.models.session import TOOL_EVENT_TYPES
from teams.models import User
from teams.versioned_text.versioned_file import Signed
from tests.client import Api
from tests.upgrade.conftest import BUNDLE, RECORDED, OldDatabase, records_that_differ, rows_of
from tests.upgrade.make_old_database import SECRET_KEY

GROWN = {"django_migrations", "django_content_type", "auth_permission", "jobs"}
"""Tables to which migrations add: Django's own, and that of jobs, which gets the one that splits files."""
REWRITTEN = {"mfa_authenticator", "change_counters"}
"""Tables in which a migration changed rows: secrets are encrypted now; migrations count as changes."""
MOVED = {"django_session": "browser_sessions"}
"""Tables whose rows are in another one now."""

IDS = [record["id"] for record in RECORDED["records"]]


@pytest.fixture
def api(upgraded: OldDatabase, db: None, settings: Any) -> Api:
    """The API, for the old installation's admin."""
    return _api(settings)


@pytest.fixture
def signed_in(upgraded: OldDatabase, db: None, settings: Any, tmp_path: Path) -> Client:
    """A browser in which the old installation's admin is signed in."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = tmp_path
    client = Client()
    client.force_login(_admin())
    return client


def test_no_row_of_any_table_is_lost_or_says_anything_else(upgraded: OldDatabase) -> None:
    assert sum(before.rows.total() for before in upgraded.tables.values()) > 2_000
    for table, before in upgraded.tables.items():
        if table in MOVED:
            assert (_count(table), _count(MOVED[table])) == (0, before.rows.total()), table
            continue
        after = rows_of(before.columns, table)
        if table in REWRITTEN:
            assert after.total() >= before.rows.total(), table
        elif table in GROWN:
            assert after >= before.rows, table
        else:
            assert after == before.rows, table


def test_old_texts_come_from_who_wrote_them(upgraded: OldDatabase, db: None) -> None:
    admin_keys = {f"key:{key.id}" for key in ApiKey.objects.filter(agent=None)}
    assert admin_keys
    found = set[tuple[str, str]]()
    for model in apps.get_models():
        if not issubclass(model, Signed):
            continue
        names = ("editor_ref", "origin", *(("type",) if model is Event else ()))
        for editor, origin, *kind in model._default_manager.values_list(*names):
            by_agent = editor.startswith("key:") and editor not in admin_keys
            expected = "tool" if kind and kind[0] in TOOL_EVENT_TYPES else "agent" if by_agent else "person"
            assert origin == expected, (model, editor, kind)
            found.add((model.__name__, origin))
    assert {("Event", "tool"), ("Memory", "person"), ("TeamFileVersion", "person")} <= found


def test_every_record_replays_to_the_same_bytes(api: Api) -> None:
    assert {str(id_) for id_ in _assemblies().values_list("id", flat=True)} == set(IDS)
    assert len(IDS) > 70
    assert records_that_differ(api) == []


def test_every_seal_holds_up_to_the_one_that_was_noted(upgraded: OldDatabase) -> None:
    found = _verified()
    assert found == {
        "ok": True, "findings": 0, "head": RECORDED["head"], "records": len(IDS), "pruned": 1,
        "seals": int(RECORDED["head"].partition(":")[0]), "pieces": found["pieces"], "erased": 0,
        "keyless": 0,
    }  # fmt: skip
    assert found["pieces"] > 800


def test_a_bundle_of_before_is_checked_and_replayed() -> None:
    output = StringIO()
    call_command("replay_bundle", str(BUNDLE), "--expect", RECORDED["head"], stdout=output)
    assert output.getvalue().count("replayed byte for byte, as in seal") == 2


@pytest.mark.parametrize(
    "number", [0, 30, 60, *(pytest.param(one, marks=pytest.mark.deep) for one in range(6, len(IDS), 6))]
)
def test_pages_and_rest_answer_for_an_old_record(api: Api, signed_in: Client, number: int) -> None:
    id_ = IDS[number]
    for path in ("", "/decisions", "/rerun", "/why-not?q=ferry", "/bundle"):
        answer = api.get(f"assemblies/{id_}{path}")
        # A deleted agent gets no context today.
        assert answer.status_code == 200 or (path == "/rerun" and answer.json()["code"] == "agent_deleted"), path
    for page in ("", "items/", "exact/", "text/", "json/", "why-not/?q=ferry", "what-if/"):
        assert signed_in.get(f"/contexts/{id_}/{page}").status_code == 200, page


@pytest.mark.parametrize(
    "address",
    [
        "contexts/", "agents/marta/files/KNOWLEDGE/history/", "teams/story-room/files/GOALS/history/",
        "agents/marta/logs/", "agents/marta/memories/", "agents/marta/events/", "agents/marta/graph/",
        "agents/marta/tasks/", "profiles/house/history/", "rules/the-walk/history/", "external-sources/harbour/",
        "webhooks/", "alerts/", "proposals/", "trends/", "retention/", "jobs/",
    ],
)  # fmt: skip
def test_pages_of_the_old_installation_are_shown(signed_in: Client, address: str) -> None:
    answer = signed_in.get(f"/{address}", follow=True)
    assert answer.status_code == 200


def test_what_was_encrypted_is_still_read(api: Api) -> None:
    [webhook] = api.get("webhooks").json()["results"]
    assert api.get(f"webhooks/{webhook['id']}/secret").json()["secret"].startswith("whsec_")


def test_an_old_agent_is_told_something_new(scratch: str, settings: Any) -> None:
    api = _api(settings)
    for profile in ("conversation", "coding", "research", "operations", "stack", "house"):
        request = {"agent": "marta", "team": "story-room", "profile": profile, "topic": "Where does the ferry leave?"}
        answer = api.post("assemblies", request)
        assert answer.status_code == 201, answer.content
        made = answer.json()
        assert "ferry" in made["content"]
        assert api.post(f"assemblies/{made['id']}/replay").json() == {"identical": True, "sha256": made["sha256"]}
    assert _verified()["findings"] == 0


def test_an_event_comes_to_an_old_context(api: Api) -> None:
    id_ = next(str(one.id) for one in _assemblies().filter(agent_slug="marta", parent=None).order_by("id"))
    event = {"type": "message", "content": {"text": "The bell rang."}}
    answer = api.post(f"assemblies/{id_}/append", {"event": event})
    assert answer.status_code == 201, answer.content
    assert "The bell rang." in answer.json()["content"]


def test_one_other_byte_is_noticed(scratch: str, settings: Any) -> None:
    id_ = IDS[0]
    assert records_that_differ(_api(settings), id_) == []
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE stored_texts DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE stored_texts SET text = overlay(text PLACING '#' FROM 3 FOR 1) WHERE sha256 ="
            " (SELECT text_sha256 FROM pieces, assemblies WHERE assemblies.id = %s AND pieces.id = told[1])",
            [id_],
        )
        assert cursor.rowcount == 1
    assert records_that_differ(_api(settings), id_) == [id_]
    output = StringIO()
    with pytest.raises(CommandError):
        call_command("verify_records", "--json", stdout=output)
    kinds = [json.loads(line).get("kind") for line in output.getvalue().splitlines()]
    assert kinds == ["text_altered", None]


def _api(settings: Any) -> Api:
    settings.SECRET_KEY_FALLBACKS = [SECRET_KEY]
    return Api(person=_admin().principal)


def _admin() -> User:
    return User.objects.get(username="admin")


def _assemblies() -> Any:
    return apps.get_model("assembly", "Assembly").objects.all()


def _count(table: str) -> int:
    return rows_of([], table).total()


def _verified() -> dict[str, Any]:
    output = StringIO()
    call_command("verify_records", "--json", "--expect", RECORDED["head"], stdout=output)
    found: dict[str, Any] = json.loads(output.getvalue().splitlines()[-1])
    return found
