"""Names above internal are sealed so that the same name is sealed alike: unique, and found as a whole."""

import io
import secrets
import uuid
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_create
from assembly.pipeline.read_plan import enrich_with_mentions
from assembly.pipeline.request import AssemblyRequest, find_session
from assembly.pipeline.services import assemble
from assembly.sources.base import GatherContext
from assembly.sources.rule_inclusions import FINDERS
from config.db.statements import fetch_rows
from config.http.errors import NotFound
from config.keys import store
from config.keys.sealed_texts import MARK, open_texts, owner_of, seal_names, seal_text
from memories.models import Document, Entity, Event, Pattern, Relation, Session, Tool
from memories.search.graph_walk import load_graph_around
from memories.search.question import parse_question, read_terms
from memories.services import agent_item_update, agent_items_create
from memories.services.batch_errors import DuplicateInBatch, InvalidBatch
from memories.services.document import documents_create
from memories.services.event import events_create
from teams.level_changes import level_set
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.sensitivity import FULL, Clearances, Sensitivity, reading_as
from tests.client import Api
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db
OWNER, OTHER = uuid.UUID(int=41), uuid.UUID(int=42)
NAMES = ["Zoë Quokka", "zoë quokka", "", "\ud800 odd", "x" * 500]
INTERNAL = FULL.limited_to(Sensitivity.INTERNAL)


def stored(row: Any, column: str) -> Any:
    ((value,),) = fetch_rows(f"SELECT {column} FROM {row._meta.db_table} WHERE id = %s", [row.pk])  # noqa: S608
    return value


def is_sealed(value: Any) -> bool:
    return all(one.startswith(MARK) for one in value) if isinstance(value, list) else value.startswith(MARK)


def add(model: Any, agent: Agent, level: Sensitivity = Sensitivity.RESTRICTED, **facts: Any) -> Any:
    """An item of the agent with this level."""
    creates = documents_create if model is Document else agent_items_create
    more = {} if model is Document else {"model": model}
    [made] = creates(agent=agent, facts=[{**facts, "sensitivity": level}], principal=SYSTEM, **more)
    return model.objects.get(pk=made.pk)


def quokka(agent: Agent, **facts: Any) -> Entity:
    named = {"type": "Person", "name": "Zoë Quokka", "aliases": ["The Quokka"], **facts}
    return add(Entity, agent, **named)  # type: ignore[no-any-return]


def test_the_same_name_is_sealed_alike_under_one_key_and_opens_as_any_text() -> None:
    sealed = seal_names(NAMES, OWNER)
    assert seal_names(NAMES, OWNER) == sealed
    assert len({*sealed}) == len(NAMES)
    assert all(one.startswith(MARK) and owner_of(one) == OWNER for one in sealed)
    assert not {*seal_names(NAMES, OTHER)} & {*sealed}
    assert open_texts(sealed) == NAMES
    assert seal_text(NAMES[0], OWNER) not in sealed


def test_a_raised_entity_is_sealed_with_its_relations_and_a_lowered_one_is_opened(agent: Agent) -> None:
    entity = quokka(agent, level=Sensitivity.INTERNAL)
    other = add(Entity, agent, Sensitivity.INTERNAL, type="Person", name="Ada")
    relation = add(Relation, agent, Sensitivity.INTERNAL, source=other, target=entity, type="married_to")
    assert stored(relation, "type") == "married_to"
    raised = level_set(row=entity, level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    for column in ("name", "aliases", "names"):
        assert is_sealed(stored(raised, column)), column
    relation = Relation.objects.get(pk=relation.pk)
    assert (relation.type, relation.sensitivity) == ("married_to", Sensitivity.CONFIDENTIAL)
    assert is_sealed(stored(relation, "type"))
    found = Entity.objects.get(pk=entity.pk)
    assert (found.name, found.aliases, found.names) == ("Zoë Quokka", ["The Quokka"], ["the quokka", "zoë quokka"])
    graph = load_graph_around(agent=agent, entity=found)
    assert {one.name for one in graph.entities} == {"Ada", "Zoë Quokka"}
    assert [one.type for one in graph.relations] == ["married_to"]
    level_set(row=found, level=Sensitivity.PUBLIC, principal=SYSTEM)
    assert stored(found, "name") == "Zoë Quokka"
    assert stored(found, "names") == ["the quokka", "zoë quokka"]
    raise_level(Relation, relation.pk, Sensitivity.INTERNAL)
    assert stored(relation, "type") == "married_to"


def test_the_database_refuses_plain_names_above_internal(agent: Agent) -> None:
    entity = quokka(agent)
    for column, value in (("name", "plain"), ("names", ["plain"]), ("aliases", [*stored(entity, "aliases"), "plain"])):
        with pytest.raises(IntegrityError, match="not sealed"), transaction.atomic():
            Entity.objects.filter(pk=entity.pk).update(**{column: value})


UNIQUE: list[tuple[Any, str, dict[str, Any]]] = [
    (Entity, "name", {"type": "Person"}),
    (Document, "path", {"content": "Tea."}),
    (Pattern, "name", {"guidance": "Ask."}),
    (Tool, "name", {"description": "Brews."}),
]


@pytest.mark.parametrize(("model", "column", "more"), UNIQUE)
@pytest.mark.parametrize("levels", [(1, 3), (3, 1), (3, 3)])
def test_a_name_is_unique_whether_sealed_or_not(
    model: Any, column: str, more: dict[str, Any], levels: tuple[int, int], agent: Agent
) -> None:
    first, second = (Sensitivity(level) for level in levels)
    add(model, agent, first, **{column: "quokka"}, **more)
    with pytest.raises(DuplicateInBatch, match="exists already"), transaction.atomic():
        add(model, agent, second, **{column: "quokka"}, **more)
    other = add(model, agent, second, **{column: "wombat"}, **more)
    with pytest.raises(DuplicateInBatch, match="exists already"), transaction.atomic():
        agent_item_update(thing=other, expected_version=1, changes={column: "quokka"}, principal=SYSTEM)
    renamed = agent_item_update(thing=other, expected_version=1, changes={column: "Wombat"}, principal=SYSTEM)
    assert getattr(renamed, column) == "Wombat"


def test_relations_are_unique_whether_sealed_or_not(agent: Agent) -> None:
    ada, ben = (add(Entity, agent, Sensitivity.INTERNAL, type="Person", name=name) for name in ("Ada", "Ben"))
    add(Relation, agent, source=ada, target=ben, type="knows")
    with pytest.raises(DuplicateInBatch):
        add(Relation, agent, Sensitivity.INTERNAL, source=ada, target=ben, type="knows")


def test_a_path_that_would_be_too_long_for_an_index_is_refused(agent: Agent) -> None:
    with pytest.raises(InvalidBatch, match="1,900 bytes"):
        add(Document, agent, path="🦘" * 490, content="Tea.")
    add(Document, agent, path="袋" * 500, content="Tea.")


def mentions(agent: Agent, topic: str, clearances: Clearances) -> tuple[list[str], int]:
    """The names of the entities that a topic mentions, and the number of statements."""
    asking = GatherContext(agent=agent, team=None, now=timezone.now(), topic=topic, clearances=clearances)
    with CaptureQueriesContext(connection) as statements:
        found = enrich_with_mentions(asking).mentioned
    return [one.name for one in found], len(statements)


def test_a_topic_mentions_a_sealed_entity_with_the_clearance_alone(agent: Agent) -> None:
    add(Entity, agent, Sensitivity.INTERNAL, type="Person", name="Ada")
    topic = "Has Ada met the quokka?"
    assert mentions(agent, topic, FULL) == (["Ada"], 1)
    quokka(agent)
    assert mentions(agent, topic, INTERNAL) == (["Ada"], 1)
    assert mentions(agent, topic, FULL) == (["Ada", "Zoë Quokka"], 2)
    assert mentions(agent, "What does zoë  Quokka's cat eat?", FULL)[0] == ["Zoë Quokka"]


def test_a_question_that_names_a_sealed_entity_searches_for_its_other_names(agent: Agent) -> None:
    quokka(agent, aliases=["Wombat friend"])
    question = parse_question("What does Zoë Quokka drink?", None, timezone.now().date())
    terms, _, _ = read_terms(question, "agent_id", agent.pk, most=0)
    assert terms.entities == ("'wombat' <-> 'friend' | 'zoë' <-> 'quokka'",)
    with reading_as(INTERNAL):
        terms, _, _ = read_terms(question, "agent_id", agent.pk, most=0)
    assert terms.entities == ()


def test_a_context_with_the_clearance_tells_names_paths_and_types(agent: Agent, team: Team, owner: User) -> None:
    zoe = quokka(agent, salience=0)
    for number in range(10):
        add(Entity, agent, Sensitivity.INTERNAL, type="Person", name=f"Salient {number}", salience=1)
    ben = Entity.objects.get(name="Salient 1")
    add(Relation, agent, source=zoe, target=ben, type="feeds_quokkas")
    add(Tool, agent, name="quokka-brew", description="Brews tea.")
    add(Pattern, agent, name="Quokka pattern", guidance="Ask.", keywords=["quokka"])
    add(Document, agent, path="secret/quokka.md", content="Tea is at four.", is_open=True)
    add(Session, agent, external_id="quokka-run", title="Quokka run")
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    agent.refresh_from_db()
    asked = AssemblyRequest(topic="the quokka", profile="stack", session="quokka-run", max_tokens=8_000)
    told = assemble(agent=agent, team=team, principal=owner.principal, asked=asked).content
    for word in ("Zoë Quokka", "feeds_quokkas", "quokka-brew", "Quokka pattern", "quokka.md"):
        assert word in told, word
    assert "sealed:" not in told


def test_a_session_is_found_by_its_id_elsewhere_and_gets_its_events(agent: Agent) -> None:
    session = add(Session, agent, external_id="quokka-run")
    assert is_sealed(stored(session, "external_id"))
    assert find_session(agent, "quokka-run") == session
    with pytest.raises(NotFound):
        find_session(agent, "quokka")
    message = {"type": "message", "content": {"text": "Hi."}, "session_key": "quokka-run"}
    [event] = events_create(agent=agent, facts=[message], principal=SYSTEM)
    assert Event.objects.get(pk=event.pk).session_id == session.pk
    assert Session.objects.count() == 1
    again = {"external_id": "quokka-run", "sensitivity": Sensitivity.INTERNAL}
    assert agent_items_create(model=Session, agent=agent, facts=[again], principal=SYSTEM) == []


def test_rules_include_sealed_documents_by_path_and_entities_by_name(agent: Agent) -> None:
    add(Document, agent, path="secret/quokka.md", content="Tea is at four.")
    add(Document, agent, Sensitivity.INTERNAL, path="open/quokka.md", content="Tea is at five.")
    quokka(agent)
    wanted = [("path", "secret/quokka.md"), ("path", "*/*.md"), ("path", "secret/*"), ("kg_entity", "the Quokka")]
    asking = GatherContext(agent=agent, team=None, now=timezone.now())
    found = [len([*FINDERS[by](asking, value)]) for by, value in wanted]
    assert found == [1, 2, 1, 1]


def test_lists_find_whole_sealed_names(agent: Agent, admin_api: Api, admin: User, client: Client) -> None:
    zoe = quokka(agent)
    ben = add(Entity, agent, Sensitivity.INTERNAL, type="Person", name="Ben")
    relation = add(Relation, agent, source=zoe, target=ben, type="feeds")
    document = add(Document, agent, path="secret/quokka.md", content="Tea.")
    for query, thing in (
        ("entities?name=the%20QUOKKA", zoe),
        ("relations?type=feeds", relation),
        ("documents?path=secret/quokka.md", document),
    ):
        rows = admin_api.get(f"agents/ada/{query}").json()["results"]
        assert [row["id"] for row in rows] == [str(thing.pk)], query
    assert admin_api.get("agents/ada/entities?name=quokka").json()["results"] == []
    client.force_login(admin)
    for page, words in (("entities", "The quokka"), ("documents", "secret/quokka.md")):
        shown = client.get(f"/agents/ada/{page}/", {"q": words}).content.decode()
        assert ("Zoë Quokka" if page == "entities" else "secret/quokka.md</") in shown, page
    assert not Entity.objects.filter(name__icontains="sealed").exists(), "letters of ciphertext are no words"
    assert not Entity.objects.filter(aliases__icontains="e").exists()


def test_names_are_found_after_the_master_key_was_changed(agent: Agent, settings: Any) -> None:
    quokka(agent)
    former, settings.MASTER_KEY = settings.MASTER_KEY, secrets.token_bytes(32)
    settings.MASTER_KEY_FALLBACKS = [former]
    call_command("rewrap_keys", stdout=io.StringIO())
    settings.MASTER_KEY_FALLBACKS = []
    store.forget_keys()
    try:
        assert mentions(agent, "the quokka", FULL)[0] == ["Zoë Quokka"]
    finally:
        settings.MASTER_KEY, settings.MASTER_KEY_FALLBACKS = former, [settings.MASTER_KEY]
        call_command("rewrap_keys", stdout=io.StringIO())


def test_names_that_an_earlier_version_stored_in_plain_are_sealed_by_the_command(agent: Agent) -> None:
    zoe, tool = quokka(agent), add(Tool, agent, name="quokka-brew")
    with transaction.atomic():
        fetch_rows("SELECT set_config('dossier.erasing', 'spellings', true)")
        names = "name = 'Zoë Quokka', aliases = '{The Quokka}', names = '{the quokka,zoë quokka}'"
        fetch_rows(f"UPDATE entities SET {names} RETURNING 1")  # noqa: S608
        fetch_rows("UPDATE tools SET name = 'quokka-brew' RETURNING 1")
        fetch_rows("SELECT set_config('dossier.erasing', 'off', true)")
    assert mentions(agent, "the quokka", FULL)[0] == ["Zoë Quokka"]
    said = io.StringIO()
    call_command("seal_texts", stdout=said)
    assert said.getvalue() == "4 texts sealed.\n"
    assert all(is_sealed(stored(zoe, column)) for column in ("name", "aliases", "names"))
    assert is_sealed(stored(tool, "name"))
    assert mentions(agent, "the quokka", FULL)[0] == ["Zoë Quokka"]


@pytest.mark.deep
def test_the_migration_keeps_all_names_there_and_back(committed_database: str) -> None:
    agent = agent_create(slug="luna", name="Luna")
    zoe = quokka(agent)
    before = "0030_owners_of_versions"
    with pytest.raises(RuntimeError, match="entities has sealed names"):
        call_command("migrate", "memories", before, verbosity=0)
    raise_level(Entity, zoe.pk, Sensitivity.INTERNAL)
    call_command("migrate", "memories", before, verbosity=0)
    fetch_rows("UPDATE entities SET sensitivity = 3 RETURNING 1")  # whose name that version does not seal
    call_command("migrate", verbosity=0)
    assert stored(zoe, "aliases") == ["The Quokka"]
    assert Entity.objects.get().name == "Zoë Quokka"
    level_set(row=Entity.objects.get(), level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    assert is_sealed(stored(zoe, "aliases"))
    call_command("seal_texts", stdout=io.StringIO())
    assert mentions(agent, "the quokka", FULL)[0] == ["Zoë Quokka"]
