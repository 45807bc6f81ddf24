"""The embedded PostgreSQL's log keeps no texts: neither of statements that fail, nor of details and parameters."""

import os
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, connection

from agents.models import Agent
from config.postgres.data_folder import DataFolder
from memories.models import Entity
from tests.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.finding("5.6")]


def server_log() -> str:
    """All that the tests' server wrote until now."""
    return DataFolder(Path(os.environ["DOSSIER_TEST_DATA_DIR"])).postgres_log.read_text(errors="replace")


def test_a_conflict_leaves_no_text(agent: Agent, agent_api: Api) -> None:
    secret = f"secret-{uuid4().hex}"
    body = {"path": f"{secret}.md", "content": f"# {secret}\n\nA text that is nobody's business."}
    assert agent_api.post(f"agents/{agent.slug}/documents", body).status_code == 201
    assert agent_api.post(f"agents/{agent.slug}/documents", body).status_code == 409
    assert secret not in server_log()


def test_a_violated_constraint_leaves_no_text(agent: Agent) -> None:
    secret = f"secret-{uuid4().hex}"
    facts = {"agent": agent, "type": "person", "name": secret, "properties": {"note": secret}}
    Entity.objects.create(**facts)
    with pytest.raises(IntegrityError):
        Entity.objects.create(**facts)
    assert secret not in server_log()


def test_a_failed_statement_leaves_neither_itself_nor_its_parameters() -> None:
    secret = f"secret-{uuid4().hex}"
    before = server_log().count("division by zero")
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 / 0, '{secret}', %s", [secret])
    log = server_log()
    assert log.count("division by zero") > before, "errors themselves are logged"
    assert secret not in log


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("log_statement", "none"),
        ("log_min_duration_statement", "-1"),
        ("log_min_error_statement", "panic"),
        ("log_error_verbosity", "terse"),
        ("log_parameter_max_length", "0"),
        ("log_parameter_max_length_on_error", "0"),
    ],
)
def test_the_settings_hold_and_are_documented(setting: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [setting])
        assert cursor.fetchone() == (value,)
    operations = Path(__file__).parents[3] / "docs" / "operations.md"
    assert f"    {setting} = {value}\n" in operations.read_text()
