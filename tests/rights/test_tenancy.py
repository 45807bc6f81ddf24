"""Every address, tried by those who may not see it: it answers as if there were nothing, to the byte."""

import datetime
import json
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from typing import cast as typed

import pytest
from django.urls import URLPattern, URLResolver

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import daily_log_append
from config import api
from memories.api.urls import ENDPOINTS
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests import personas
from tests.client import Api, problem
from tests.memories.agent_items import BODIES, PATCHES, things_of

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
outsider, agent_api, other_agent_api, admin_api = personas.once_per_module(
    personas.outsider, personas.agent_api, personas.other_agent_api, personas.admin_api
)

TEAM = {"slug": "care"}
AGENT = {"slug": "ada"}
DAY = {"slug": "ada", "date": "2026-01-05"}
CONTENT = {"content": "stolen"}
MEMORY = {"kind": "fact", "text": "stolen"}
SEEN = [{"id": str(uuid.UUID(int=number)), "version": 1} for number in (1, 2)]
MERGE = {"keep": SEEN[0]["id"], "memories": SEEN}

# address → (path arguments, {method: body}) of what belongs to the team “care” and the agent “ada”
PRIVATE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "teams/<slug:slug>": (TEAM, {"GET": None, "PATCH": {"name": "stolen"}, "DELETE": None}),
    "teams/<slug:slug>/members": (TEAM, {"GET": None}),
    "teams/<slug:slug>/members/<str:username>": (
        {**TEAM, "username": "teammate"},
        {"GET": None, "PUT": {"role": "admin"}, "DELETE": None},
    ),
    "agents/<slug:slug>": (AGENT, {"GET": None, "PATCH": {"name": "stolen"}, "DELETE": None}),
    "agents/<slug:slug>/daily-logs": (AGENT, {"GET": None}),
    "agents/<slug:slug>/daily-logs/<slug:date>": (
        DAY,
        {"GET": None, "POST": {"text": "stolen"}, "PUT": CONTENT, "DELETE": None},
    ),
    "agents/<slug:slug>/daily-logs/<slug:date>/versions": (DAY, {"GET": None}),
    "agents/<slug:slug>/daily-logs/<slug:date>/versions/<int:version>": ({**DAY, "version": 1}, {"GET": None}),
    "agents/<slug:slug>/daily-logs/<slug:date>/versions/<int:version>/compare": (
        {**DAY, "version": 1},
        {"GET": None},
    ),
}
for owners, one, key in (("teams", TEAM, "GOALS"), ("agents", AGENT, "IDENTITY")):
    named = {**one, "key": key}
    PRIVATE |= {
        f"{owners}/<slug:slug>/files": (one, {"GET": None}),
        f"{owners}/<slug:slug>/files/<slug:key>": (named, {"GET": None, "PUT": CONTENT}),
        f"{owners}/<slug:slug>/files/<slug:key>/versions": (named, {"GET": None}),
        f"{owners}/<slug:slug>/files/<slug:key>/versions/<int:version>": ({**named, "version": 1}, {"GET": None}),
        f"{owners}/<slug:slug>/files/<slug:key>/versions/<int:version>/compare": (
            {**named, "version": 1},
            {"GET": None},
        ),
        f"{owners}/<slug:slug>/memories": (one, {"GET": None, "POST": MEMORY}),
        f"{owners}/<slug:slug>/memories/batch": (one, {"POST": {"items": [MEMORY]}}),
        f"{owners}/<slug:slug>/memories/search": (one, {"GET": None}),
        f"{owners}/<slug:slug>/memories/<uuid:id_>": (
            one,
            {"GET": None, "PATCH": {"text": "stolen"}, "DELETE": None},
        ),
        f"{owners}/<slug:slug>/memories/<uuid:id_>/versions": (one, {"GET": None}),
        f"{owners}/<slug:slug>/memories/<uuid:id_>/uses": (one, {"GET": None}),
        f"{owners}/<slug:slug>/memories/merge": (one, {"POST": MERGE}),
    }
for noun in (noun.name for noun in ENDPOINTS):
    PRIVATE |= {
        f"agents/<slug:slug>/{noun}": (AGENT, {"GET": None, "POST": BODIES[noun]}),
        f"agents/<slug:slug>/{noun}/batch": (AGENT, {"POST": {"items": [BODIES[noun]]}}),
        f"agents/<slug:slug>/{noun}/<uuid:id_>": (AGENT, {"GET": None, "PATCH": PATCHES[noun], "DELETE": None}),
    }
PRIVATE |= {
    "agents/<slug:slug>/documents/<uuid:id_>/chunks": (AGENT, {"GET": None}),
    "agents/<slug:slug>/graph": (AGENT, {"GET": None}),
    "agents/<slug:slug>/task-stack": (AGENT, {"GET": None}),
    "agents/<slug:slug>/task-stack/push": (AGENT, {"POST": {"goal": "stolen"}}),
    "agents/<slug:slug>/task-stack/pop": (AGENT, {"POST": {"result": "stolen"}}),
}
PRIVATE |= {
    "teams/<slug:slug>/retention": (TEAM, {"GET": None, "PUT": {"days": 1}, "DELETE": None}),
}
POLICY = {**TEAM, "content_type": "general"}
PRIVATE |= {
    "teams/<slug:slug>/kv-policies": (TEAM, {"GET": None}),
    "teams/<slug:slug>/kv-policies/<slug:content_type>": (POLICY, {"GET": None, "PUT": {"policy": None}}),
    "teams/<slug:slug>/kv-policies/<slug:content_type>/preview": (POLICY, {"POST": {"policy": {}}}),
    "teams/<slug:slug>/kv-policies/<slug:content_type>/versions": (POLICY, {"GET": None}),
}
STORAGE = {  # of the organisation; tried in tests/memories/api/test_storage_policies.py
    "kv-policies",
    "kv-policies/<slug:content_type>",
    "kv-policies/<slug:content_type>/preview",
    "kv-policies/<slug:content_type>/versions",
    "lifecycle-reports",
    "lifecycle-reports/<uuid:id_>/undo",
}
PRIVATE |= {
    "agents/<slug:slug>/keys": (AGENT, {"GET": None, "POST": {"name": "stolen"}}),
    "agents/<slug:slug>/keys/<uuid:id_>": (AGENT, {"GET": None, "DELETE": None}),
    "teams/<slug:slug>/keys": (TEAM, {"GET": None}),
    "teams/<slug:slug>/keys/<uuid:id_>": (TEAM, {"GET": None, "PUT": None, "DELETE": None}),
}
KEYS = {"keys", "keys/<uuid:id_>"}  # of the organisation; tried in tests/agents/api/test_keys.py
LIMITS = {  # for those who may set them; tried in tests/rights/test_rest.py
    "limits",
    "agents/<slug:slug>/limits",
    "agents/<slug:slug>/keys/<uuid:key_id>/limits",
    "keys/<uuid:key_id>/limits",
    "people/<uuid:id_>/limits",
    "teams/<slug:slug>/limits",
}
PRIVATE |= {
    "agents/<slug:slug>/export": (AGENT, {"GET": None}),
    "agents/<slug:slug>/as-of": (AGENT, {"GET": None}),
    "teams/<slug:slug>/export": (TEAM, {"GET": None}),
}
IMPORTS = {
    "export",
    "import",
    "import/<uuid:id_>",
    "import/<uuid:id_>/apply",
}  # tried in tests/memories/api/test_archive.py
LISTS = {"teams", "agents"}  # everyone may ask; they show what one may see
PUBLIC = {"schema", "docs", "schemas/<str:name>"}
NOBODYS = {"tokens", "compress"}  # they read nothing: tests/assembly/contexts/test_coding_profile_api.py
PROFILES = {  # of the organisation, read by everyone; tried in tests/assembly/profiles/test_api.py
    "profiles",
    "profiles/check",
    "profiles/<slug:name>",
    "profiles/<slug:name>/learned-weights",  # tried in tests/assembly/learned_weights/test_api.py
    "profiles/<slug:name>/learned-weights/switch",
    "profiles/<slug:name>/tuning",  # tried in tests/assembly/feedback/test_tuning_api.py
    "profiles/<slug:name>/versions",
    "profiles/<slug:name>/versions/<int:version>",
}
ORGANISATION_FILES = {  # read by everyone; tried in tests/teams/organisation/test_api.py
    "organisation/files",
    "organisation/files/<slug:key>",
    "organisation/files/<slug:key>/versions",
    "organisation/files/<slug:key>/versions/<int:version>",
    "organisation/files/<slug:key>/versions/<int:version>/compare",
}
RULES = {  # of agents, teams and everybody; tried in tests/assembly/rules/test_api.py
    "rules",
    "rules/check",
    "rules/recall-tests",  # tried in tests/assembly/recall_tests/test_publication.py
    "rules/backtest",  # tried in tests/assembly/simulation/rule_backtest/test_api.py
    "rules/<slug:name>",
    "rules/<slug:name>/versions",
    "rules/<slug:name>/versions/<int:version>",
}
EXTERNAL_SOURCES = {  # of the organisation; tried in tests/assembly/sources/external/test_api.py
    "external-sources",
    "external-sources/<slug:name>",
    "external-sources/<slug:name>/query",
}
TRENDS = {"trends"}  # tried in tests/assembly/monitoring/trends/test_api.py
ACTIVITIES = {  # tried in tests/pages/teams/test_activity_log.py, tests/sensitivity/test_reading_log.py
    "activities",
    "readings",
}
SUBJECTS = {  # of the organisation; tried in tests/privacy/test_api.py
    "subjects",
    "subjects/search",
    "subjects/<uuid:id_>",
    "subjects/<uuid:id_>/versions",
    "subjects/<uuid:id_>/mentions",
    "subjects/<uuid:id_>/scan",
    "subjects/<uuid:id_>/restriction",
    "subjects/<uuid:id_>/files",
    "subjects/<uuid:id_>/files/<uuid:file_id>",
    "subjects/<uuid:id_>/files/<uuid:file_id>/content",
    "subjects/<uuid:id_>/erasure-plan",
    "subjects/<uuid:id_>/correction-plan",  # and these in tests/privacy/corrections/test_api.py
    "subjects/<uuid:id_>/corrections",
    "subjects/<uuid:id_>/corrections/<uuid:correction_id>",
    "subjects/<uuid:id_>/corrections/<uuid:correction_id>/undo",
    "erasures",  # and these in tests/privacy/erasure/test_requests.py
    "erasures/<uuid:id_>",
    "legal-holds",
    "legal-holds/<uuid:id_>",
}
CONFLICTS = {  # tried in tests/assembly/conflicts/test_api.py
    "conflicts",
    "conflicts/<uuid:id_>",
    "conflicts/<uuid:id_>/resolve",
    "conflicts/<uuid:id_>/undo",
}
ALERTS = {  # tried in tests/assembly/monitoring/alerts/test_api.py
    "alerts",
    "alerts/<uuid:id_>",
    "alerts/<uuid:id_>/acknowledge",
    "alerts/<uuid:id_>/resolve",
    "alerts/<uuid:id_>/reopen",
}
WEBHOOKS = {  # tried in tests/assembly/monitoring/webhooks/test_api.py
    "webhooks",
    "webhooks/<uuid:id_>",
    "webhooks/<uuid:id_>/secret",
    "webhooks/<uuid:id_>/test",
    "webhooks/<uuid:id_>/deliveries",
    "webhooks/<uuid:id_>/deliveries/<uuid:delivery>/resend",
}
TRIALS = {"draft-previews"}  # tried in tests/assembly/simulation/draft_preview/test_api.py
JOBS = {"jobs", "jobs/<uuid:id_>", "jobs/<uuid:id_>/retry"}  # tried in tests/memories/api/test_jobs.py
ASSEMBLIES = {  # tried in tests/assembly/contexts/test_api.py
    "assemblies",
    "assemblies/<uuid:id_>",
    "assemblies/<uuid:id_>/decisions",
    "assemblies/<uuid:id_>/replay",
    "assemblies/<uuid:id_>/as-of",  # tried in tests/assembly/simulation/time_travel/test_api.py
    "assemblies/<uuid:id_>/flag",  # this and the next two: tests/assembly/records/test_api.py
    "assemblies/<uuid:id_>/bundle",
    "retention",
    "assemblies/<uuid:id_>/feedback",  # tried in tests/assembly/feedback/test_feedback.py
    "assemblies/<uuid:id_>/append",  # tried in tests/assembly/contexts/test_coding_profile_api.py
    "assemblies/<uuid:id_>/why-not",  # tried in tests/assembly/why_not/test_api.py
    "assemblies/<uuid:id_>/rerun",  # tried in tests/assembly/comparison/test_api.py, as the next two
    "assemblies/<uuid:id_>/what-if",
    "assemblies/compare",
    "memory/assemble",  # tried in tests/assembly/contract/test_rights.py
}
PROPOSALS = {  # tried in tests/assembly/simulation/proposals/test_api.py
    "proposals",
    "proposals/<uuid:id_>",
    "proposals/<uuid:id_>/decision",
    "proposals/<uuid:id_>/rerun",
}
RECALL_TESTS = {  # tried in tests/assembly/recall_tests/test_api.py
    "assemblies/<uuid:id_>/recall-test",
    "recall-tests",
    "recall-tests/trial",  # this and the next two: tests/assembly/recall_tests/test_publication.py
    "recall-tests/guards",
    "recall-tests/guards/<uuid:id_>",
    "recall-tests/<uuid:id_>",
    "recall-tests/<uuid:id_>/run",
    "recall-tests/<uuid:id_>/results",
}
CASES = [(route, method) for route, (_, methods) in PRIVATE.items() for method in methods]
QUERY = {route: "?q=refund" for route in PRIVATE if route.endswith("/search")}
QUERY["agents/<slug:slug>/as-of"] = "?at=2026-03-01T12:00:00Z"


def routes(patterns: list[Any], before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, before + str(pattern.pattern))
        else:
            yield before + str(pattern.pattern), pattern


ROUTES = dict(routes(api.urlpatterns))


World = dict[str, uuid.UUID]


@pytest.fixture(scope="module")
def world(team: Team, agent: Agent) -> World:
    """The id of one thing of each kind: `agents/memories`, `agents/events`, …"""
    daily_log_append(agent=agent, date=datetime.date(2026, 1, 5), text="secret", principal=SYSTEM)
    facts = MemoryFacts(kind="fact", text="secret refund rule")
    return {
        "teams/memories": memory_create(owner=team, facts=facts, principal=SYSTEM).id,
        "agents/memories": memory_create(owner=agent, facts=facts, principal=SYSTEM).id,
        **dict.fromkeys(("agents/keys", "teams/keys"), api_key_create(agent=agent)[0].id),
        **{f"agents/{noun}": thing.id for noun, thing in things_of(agent).items()},
    }


def arguments_of(route: str, world: World) -> dict[str, Any]:
    """The path arguments of what is there."""
    parts = route.split("/")
    return {**PRIVATE[route][0], "id_": world.get(f"{parts[0]}/{parts[2]}") if len(parts) > 2 else None}


@pytest.fixture
def strangers(outsider: User, other_agent_api: Api, as_person: Callable[[User], Api]) -> list[Api]:
    """A person and an agent of other teams."""
    return [as_person(outsider), other_agent_api]


def address(route: str, arguments: dict[str, Any]) -> str:
    return re.sub(r"<\w+:(\w+)>", lambda match: str(arguments[match[1]]), route) + QUERY.get(route, "")


def anonymised(content: bytes, *names: object) -> dict[str, Any]:
    document = json.loads(content)
    del document["request_id"]
    for name in names:
        document["detail"] = document["detail"].replace(str(name), "…")
    return typed("dict[str, Any]", document)


def test_every_address_has_a_row() -> None:
    tried_elsewhere = (
        LISTS
        | PUBLIC
        | NOBODYS
        | JOBS
        | ASSEMBLIES
        | PROFILES
        | ORGANISATION_FILES
        | RULES
        | TRIALS
        | EXTERNAL_SOURCES
        | IMPORTS
        | PROPOSALS
        | RECALL_TESTS
    )
    tried_elsewhere |= TRENDS | ACTIVITIES | ALERTS | CONFLICTS | SUBJECTS | WEBHOOKS | KEYS | LIMITS | STORAGE
    assert ROUTES.keys() == PRIVATE.keys() | tried_elsewhere


@pytest.mark.parametrize("route", PRIVATE)
def test_every_method_of_an_address_has_a_row(route: str) -> None:
    view = typed("Any", ROUTES[route].callback).cls
    methods = {name.upper() for name in view.http_method_names if hasattr(view, name)} - {"HEAD"}
    assert methods == PRIVATE[route][1].keys()


@pytest.mark.parametrize(("route", "method"), CASES)
def test_it_answers_404_as_if_it_did_not_exist(route: str, method: str, world: World, strangers: list[Api]) -> None:
    arguments, methods = arguments_of(route, world), PRIVATE[route][1]
    for api_client in strangers:
        theirs = api_client.send(method, address(route, arguments), methods[method], if_match='"1"')
        nobodys = api_client.send(
            method, address(route, {**arguments, "slug": "nobody"}), methods[method], if_match='"1"'
        )
        assert problem(theirs) == (404, "not_found")
        assert anonymised(theirs.content, arguments["slug"]) == anonymised(nobodys.content, "nobody")
        assert theirs.headers.keys() == nobodys.headers.keys()
    assert Memory.objects.filter(text__contains="stolen").count() == 0


@pytest.mark.parametrize(("route", "method"), CASES)
def test_it_needs_a_key(route: str, method: str, world: World, anonymous_api: Api) -> None:
    arguments, methods = arguments_of(route, world), PRIVATE[route][1]
    response = anonymous_api.send(method, address(route, arguments), methods[method])
    assert problem(response) == (401, "not_authenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


CHANGES = [(route, method) for route, method in CASES if method != "GET"]


@pytest.mark.parametrize(("route", "method"), CHANGES)
def test_who_may_read_but_not_change_is_told_so(
    route: str, method: str, world: World, teammate: User, as_person: Callable[[User], Api]
) -> None:
    arguments, methods = arguments_of(route, world), PRIVATE[route][1]
    response = as_person(teammate).send(method, address(route, arguments), methods[method], if_match='"1"')
    assert problem(response) == (403, "forbidden")


@pytest.mark.parametrize("owners", ["teams", "agents"])
def test_a_memory_of_another_owner_is_not_there(owners: str, world: World, agent_api: Api) -> None:
    slug = {"teams": "care", "agents": "ada"}[owners]
    other = world["agents/memories" if owners == "teams" else "teams/memories"]
    theirs = agent_api.get(f"{owners}/{slug}/memories/{other}")
    nobodys = agent_api.get(f"{owners}/{slug}/memories/{(unknown := uuid.uuid4())}")
    assert anonymised(theirs.content, other) == anonymised(nobodys.content, unknown)


def test_lists_show_only_what_one_may_see(agent: Agent, agent_api: Api, strangers: list[Api], admin_api: Api) -> None:
    seen = [
        [{row["slug"] for row in client.get(path).json()["results"]} for path in ("teams", "agents")]
        for client in (agent_api, *strangers, admin_api)
    ]
    assert seen == [
        [{"care"}, {"ada"}],
        [{"elsewhere"}, set()],
        [{"far"}, {"eve"}],
        [{"care", "far", "elsewhere"}, {"ada", "eve"}],
    ]
