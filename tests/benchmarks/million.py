"""The list of contexts with 1,000,000 of them; ROWS=100000 has fewer. Figures are milliseconds at the server.

20 teams, 200 agents, a year. The contexts of three eras of each agent, between which its files and its team's were
saved anew, are assembled for real; all others are copies of these by SQL, with a moment, a topic and a requester of
their own, so that every page about them works. Some agents ask more than others.
"""

import datetime
import itertools
import os
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from teams.models import Team, User

NAME = "million"
ROWS = 1_000_000
TEAMS, AGENTS_OF_TEAM, MEMORIES_OF_AGENT = 20, 10, 20
ERAS = 3
TIMES, WARM = 40, 3
BATCH = 100_000
SYLLABLES = ("ba", "den", "fir", "gol", "hum", "ka", "lor", "mis", "nu", "pel", "ra", "sto", "ti", "vam", "wex", "zo")
WORDS = ["".join(parts) for parts in itertools.product(SYLLABLES, repeat=3)]
YEAR = datetime.timedelta(days=365)

TEMPLATES = """
CREATE TEMP TABLE templates AS
SELECT row_number() OVER (ORDER BY id) - 1 AS place, assemblies.* FROM assemblies
"""
# The later a row, the later its era; the square of chance prefers the first agents.
COPIES = """
INSERT INTO assemblies ({columns})
SELECT {values} FROM (
    SELECT number, %(begin)s::timestamptz + number * %(step)s::interval AS at,
        (number * {eras} / %(rows)s) * %(agents)s + floor(%(agents)s * random() ^ 2)::int AS chosen
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number
) AS row JOIN templates ON place = chosen
"""
OWN = {
    "id": """(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(number::text), 1, 3)
        || '8' || substr(md5('i' || number), 1, 15))::uuid""",
    "created": "at",
    "topic": """(%(words)s::text[])[1 + number %% 4096] || ' ' || (%(words)s::text[])[1 + number * 7 %% 4093]
        || ' ' || topic""",
    "requested_by": "(%(people)s::text[])[1 + number %% 50]",
    "warnings": """CASE WHEN number %% 50 = 0 THEN '["SOURCE_TIMEOUT"]' WHEN number %% 20011 = 0
        THEN '["COHERENCE_FAILURE"]' ELSE warnings END""",
}

_chance = random.Random(1)


def run() -> None:
    """Print p50 and p95 of every page and filter, and what a row takes."""
    manage("migrate", "--verbosity", "0")
    manage("collectstatic", "--no-input", "--verbosity", "0")
    django.setup()
    rows = int(os.environ.get("ROWS", ROWS))
    teams = [_team(number) for number in range(TEAMS)]
    began = time.perf_counter()
    for era in range(ERAS):
        _assemble(teams, era)
    figure(NAME, "assemble", time.perf_counter() - began, "s", ERAS * TEAMS * AGENTS_OF_TEAM)
    people = _people(teams)
    began = time.perf_counter()
    _copy(rows, [person.principal.ref for person in people])
    figure(NAME, "generate", time.perf_counter() - began, "s", rows)
    _report_sizes()
    for name, ask in _questions(teams, people).items():
        _measure(name, ask)


def _text(words: int) -> str:
    return " ".join(_chance.choices(WORDS, k=words)).capitalize() + "."


def _team(number: int) -> "Team":
    """With its agents and what they remember."""
    from agents.services import agent_create
    from memories.services import MemoryFacts, memories_create
    from teams.principal import SYSTEM
    from teams.services import team_create

    team = team_create(slug=f"team-{number}", name=f"Team {number}", principal=SYSTEM)
    for place in range(AGENTS_OF_TEAM):
        slug = f"agent-{number}-{place}"
        agent = agent_create(slug=slug, name=f"Agent {number}.{place}", teams=[team], instructions=_text(200))
        facts = [MemoryFacts(kind="fact", text=_text(20)) for _ in range(MEMORIES_OF_AGENT)]
        memories_create(owner=agent, facts=facts, principal=SYSTEM)
    return team


def _assemble(teams: "list[Team]", era: int) -> None:
    """Save the files anew, and put together a context of each agent."""
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.services import assemble
    from teams.principal import SYSTEM
    from teams.versioned_text.versioned_file import file_save

    for team in teams:
        for file in [*team.files.all(), *(file for agent in team.agents.all() for file in agent.files.all())]:
            file_save(file=file, content=_text(300), expected_version=file.version, author=SYSTEM.author)
        for agent in team.agents.all():
            profile = "operations" if _chance.random() < 0.2 else "conversation"
            asked = AssemblyRequest(topic=_text(6), profile=profile, max_tokens=_chance.choice([1_500, 4_000, 16_000]))
            assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)


def _people(teams: "list[Team]") -> "list[User]":
    """Fifty who ask; the first is an admin, the others may see a team each."""
    from teams.models import User
    from teams.principal import Role
    from teams.services import membership_set

    people = [User.objects.create_user(f"person-{number}", name=f"Person {number}") for number in range(50)]
    User.objects.filter(id=people[0].id).update(is_admin=True)
    for number, person in enumerate(people[1:]):
        membership_set(team=teams[number % TEAMS], user=person, role=Role.VIEWER)
    return people


def _copy(rows: int, people: list[str]) -> None:
    """Fill the table; indexes are made afterwards, as one does with so many."""
    from django.db import connections
    from django.utils import timezone

    from assembly.models import Assembly

    columns = [str(field.column) for field in Assembly._meta.concrete_fields]
    values = [OWN.get(name, name) for name in columns]
    sql = COPIES.format(columns=", ".join(columns), values=", ".join(values), eras=ERAS)
    parameters: dict[str, Any] = {
        "begin": timezone.now() - YEAR,
        "step": YEAR / rows,
        "rows": rows,
        "words": WORDS,
        "people": people,
    }
    parameters["agents"] = TEAMS * AGENTS_OF_TEAM
    with connections["owner"].cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(TEMPLATES)
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'assemblies' AND indexname NOT LIKE '%_pkey'"
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        for first in range(0, rows, BATCH):
            cursor.execute(sql, {**parameters, "first": first, "last": min(first + BATCH, rows) - 1})
        for _, definition in indexes:
            cursor.execute(definition)
        for table in ("assemblies", "pieces", "stored_texts"):
            cursor.execute(f"VACUUM ANALYZE {table}")


def _report_sizes() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM assemblies")
        ((rows,),) = cursor.fetchall()
        for name in ("table", "indexes"):
            cursor.execute(f"SELECT pg_{name}_size('assemblies')")
            figure(NAME, f"bytes_per_row_{name}", cursor.fetchone()[0] / rows, "bytes", rows)


def _questions(teams: "list[Team]", people: "list[User]") -> Mapping[str, Callable[[], Any]]:
    """By the name of the figure, what fetches a page; each time another one of its kind."""
    from django.test import Client
    from django.utils import timezone

    from agents.keys import api_key_create
    from agents.models import AgentFile
    from assembly.models import Assembly, Piece

    admin, viewer = (Client(SERVER_NAME="localhost") for _ in range(2))
    admin.force_login(people[0])
    viewer.force_login(people[1])
    key = api_key_create(agent=None, name="Bench")[1]
    api = Client(SERVER_NAME="localhost", headers={"Authorization": f"Bearer {key}"})
    ids = list(Assembly.objects.order_by("?").values_list("id", flat=True)[:TIMES])
    memories = list(Piece.objects.filter(named__startswith="memory:").values_list("named", flat=True)[:2_000])
    files = list(AgentFile.objects.filter(file_key="KNOWLEDGE").values_list("id", flat=True))
    goals = [team.files.get(file_key="GOALS").id for team in teams]
    month_ago = (timezone.now() - datetime.timedelta(days=30)).date()
    pick = _chance.choice

    def page(query: Callable[[], str], client: Client = admin) -> Callable[[], Any]:
        return lambda: client.get(f"/contexts/?{query()}")

    def deep() -> str:
        from config.http.cursors import encode_cursor

        at = timezone.now() - YEAR * _chance.random()
        return f"cursor={encode_cursor([at, ids[0]])}"

    def agent() -> str:
        return f"agent-{_chance.randrange(TEAMS)}-{_chance.randrange(AGENTS_OF_TEAM)}"

    def person() -> str:
        return pick(people).principal.ref

    return {
        "list": page(str),
        "list_of_viewer": page(str, viewer),
        "list_deep": page(deep),
        "list_deep_of_viewer": page(deep, viewer),
        "agent": page(lambda: f"agent={agent()}"),
        "team": page(lambda: f"team={pick(teams).slug}"),
        "requested_by": page(lambda: f"requested_by={person()}"),
        "requested_by_of_viewer": page(lambda: f"requested_by={person()}", viewer),
        "days": page(lambda: "when=week"),
        "long_ago": page(lambda: f"until={month_ago}"),
        "profile": page(lambda: "profile=operations"),
        "profile_nowhere": page(lambda: "profile=research"),
        "warning": page(lambda: "warning=SOURCE_TIMEOUT"),
        "warning_rare": page(lambda: "warning=COHERENCE_FAILURE"),
        "warning_nowhere": page(lambda: "warning=TIME_EXCEEDED"),
        "reason": page(lambda: "reason=outranked"),
        "reason_nowhere": page(lambda: "reason=conflict_lost"),
        "left_out": page(lambda: "only=left_out"),
        "cut": page(lambda: "only=cut"),
        "contains_memory": page(lambda: f"contains={pick(memories)}"),
        "contains_memory_of_viewer": page(lambda: f"contains={pick(memories)}", viewer),
        "omits_memory": page(lambda: f"omits={pick(memories)}"),
        "contains_file": page(lambda: f"contains=agent_file:{pick(files)}"),
        "contains_team_file": page(lambda: f"contains=team_file:{pick(goals)}"),
        "contains_old_version": page(lambda: f"contains=team_file:{pick(goals)}@2"),
        "contains_nowhere": page(lambda: "contains=memory:00000000-0000-0000-0000-000000000000"),
        "words_of_topic": page(lambda: f"q={pick(WORDS)}"),
        "words_of_name": page(lambda: f"q=Agent+{pick(WORDS)}"),
        "words_everywhere": page(lambda: "q=agent"),
        "words_two": page(lambda: f"q={pick(WORDS)}+{pick(WORDS)}"),
        "agent_and_days_and_left_out": page(lambda: f"agent={agent()}&when=month&only=left_out"),
        "agent_and_file_of_another": page(lambda: f"agent={agent()}&contains=agent_file:{pick(files)}"),
        "team_and_memory_and_reason": page(
            lambda: f"team={pick(teams).slug}&contains={pick(memories)}&reason=outranked"
        ),
        "detail": lambda: admin.get(f"/contexts/{pick(ids)}/"),
        "api_list": lambda: api.get("/api/v1/assemblies"),
        "api_contains": lambda: api.get(f"/api/v1/assemblies?contains={pick(memories)}"),
        "api_detail": lambda: api.get(f"/api/v1/assemblies/{pick(ids)}"),
    }


def _measure(name: str, ask: Callable[[], Any]) -> None:
    took = []
    for _ in range(WARM + TIMES):
        started = time.perf_counter()
        answer = ask()
        took.append((time.perf_counter() - started) * 1000)
        assert answer.status_code == 200, answer.content
    measured = sorted(took[WARM:])
    figure(NAME, f"{name}_p50", statistics.median(measured), "ms", TIMES)
    figure(NAME, f"{name}_p95", measured[round(0.95 * TIMES) - 1], "ms", TIMES)
