"""A context with something from outside: it replays without the endpoint, and its record holds no secret."""

from typing import Any

import pytest
from django.db import connection
from django.template.loader import render_to_string

from agents.models import Agent
from assembly.contexts.documents import assembly_document
from assembly.contexts.layers import source_rows
from assembly.models import ExternalSource, StoredProfile
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.sources.external.services import ExternalSourceConfig, external_source_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.recorded_decisions import decided
from tests.http_endpoints import GOOD, giving, serving

SECRET = "quite-a-secret"
RECORDED = ("assemblies", "pieces", "stored_texts", "jobs")


@pytest.fixture
def profile(db: None) -> str:
    """The name of a profile with one external section."""
    content = "sections:\n  - {key: tickets, heading: Tickets, layer: L6, source: external, shape: blocks}\n"
    file_create(file=StoredProfile(name="town", content=content), author=SYSTEM.author)
    return "town"


@pytest.mark.usefixtures("local")
def test_it_stands_in_the_context_and_replays_when_the_endpoint_is_gone(luna: Agent, profile: str) -> None:
    with serving(giving(GOOD)) as endpoint:
        facts = ExternalSourceConfig("Tickets", endpoint.url)
        external_source_create(name="tickets", facts=facts, secret=SECRET, principal=SYSTEM)
        told = assemble(agent=luna, asked=AssemblyRequest(topic="ferry", profile=profile), principal=SYSTEM)
    assert "The ferry is cancelled." in told.content
    assert sorted(decision.ref for decision in decided(told.assembly)) == [
        "external:tickets:7", "external:tickets:8",
    ]  # fmt: skip
    ExternalSource.objects.all().delete()
    assert replay(load_record(told.assembly)).content == told.content
    assert not any(SECRET in row for row in rows_of_the_record())


@pytest.mark.usefixtures("local")
def test_a_result_above_the_clearance_is_not_told_and_counted_as_withheld(luna: Agent, profile: str) -> None:
    secret = {"id": "9", "text": "Only for admins.", "sensitivity": "restricted"}
    with serving(giving({"results": [*GOOD["results"], secret]})) as endpoint:
        facts = ExternalSourceConfig("Tickets", endpoint.url)
        external_source_create(name="tickets", facts=facts, secret="", principal=SYSTEM)
        asked = AssemblyRequest(topic="ferry", profile=profile)
        told = assemble(agent=luna, asked=asked, principal=SYSTEM)
        Agent.objects.filter(id=luna.id).update(clearance=3)
        luna.refresh_from_db()
        whole = assemble(agent=luna, asked=asked, principal=SYSTEM)
    assert "Only for admins." not in told.content
    assert "Only for admins." in whole.content
    withheld = [
        next(one for one in record.assembly.sources if one["name"] == "external:tickets").get("withheld", 0)
        for record in (told, whole)
    ]
    assert withheld == [1, 0]
    assert (told.assembly.sensitivity, whole.assembly.sensitivity) == (1, 3)


@pytest.mark.usefixtures("local")
def test_what_could_not_be_used_is_counted_in_the_record(luna: Agent, profile: str) -> None:
    with serving(giving({"results": [*GOOD["results"], {"id": "9"}, 5]})) as endpoint:
        facts = ExternalSourceConfig("Tickets", endpoint.url)
        external_source_create(name="tickets", facts=facts, secret="", principal=SYSTEM)
        told = assemble(agent=luna, asked=AssemblyRequest(topic="ferry", profile=profile), principal=SYSTEM)
    (report,) = (source for source in assembly_document(told)["metadata"]["sources"] if source["skipped"])
    assert (report["name"], report["count"], report["skipped"]) == ("external:tickets", 2, 2)
    (row,) = (row for row in source_rows(told.assembly) if row.left_out)
    assert (row.label, row.count, row.left_out) == ("tickets", 2, 2)
    page = render_to_string("assembly/contexts/_sources.html", {"sources": [row]})
    assert "2 more results were ignored, because they are invalid or exceed the limit." in page


def test_without_the_endpoint_there_is_a_context_all_the_same(luna: Agent, profile: str) -> None:
    told = assemble(agent=luna, asked=AssemblyRequest(topic="ferry", profile=profile), principal=SYSTEM)
    (report,) = (source for source in told.assembly.sources if source["name"] == "external:tickets")
    assert (report["code"], report["count"]) == ("SOURCE_FAILED", 0)


def rows_of_the_record() -> list[Any]:
    """Every row of the record, as text."""
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT {table}::text FROM {table}" for table in RECORDED))  # noqa: S608
        return [row for (row,) in cursor.fetchall()]
