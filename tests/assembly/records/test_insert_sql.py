"""The statement that writes a record: which texts it sends, and what it makes of unusual numbers."""

import pytest
from django.db import transaction

from agents.models import Agent
from assembly.models import Assembly, Piece, StoredText, text_hash
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from config.db.statements import Rows, Statement, run_statement
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW

pytestmark = pytest.mark.django_db


def made(agent: Agent, asked: AssemblyRequest) -> Assembly:
    return assemble(agent=agent, principal=SYSTEM, asked=asked).assembly


def test_a_text_that_was_stored_and_is_gone_is_stored_again(luna: Agent) -> None:
    with transaction.atomic():
        made(luna, AssemblyRequest(now=NOW))
        assert StoredText.objects.exists()
        transaction.set_rollback(True)
    assert not StoredText.objects.exists()
    again = made(luna, AssemblyRequest(now=NOW, topic="acts"))
    assert replay(load_record(Assembly.objects.get(id=again.id))).identical
    assert set(StoredText.objects.values_list("sha256")) == set(Piece.objects.values_list("text_sha256"))


def test_what_is_stored_is_not_sent_again(luna: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def rows_sent(statement: Statement) -> Rows:
        sent.append(str(statement.parameters.get("texts")))
        return run_statement(statement)

    monkeypatch.setattr("assembly.records.insert_sql.run_statement", rows_sent)
    made(luna, AssemblyRequest(now=NOW))
    made(luna, AssemblyRequest(now=NOW, topic="acts"))
    assert text_hash("You are Luna.").hex() in sent[-2]
    assert sent[-1] == "None"


def test_numbers_of_any_size_are_recorded(luna: Agent) -> None:
    wide = 10**30
    assembly = made(luna, AssemblyRequest(now=NOW, strategy={"budget": wide}))
    assert Assembly.objects.get(id=assembly.id).request["strategy"] == {"budget": wide}
