"""Very many contexts for benchmarks: 20 teams, 200 agents, a year.

The contexts of three eras of each agent, between which its files and its team's were saved anew, are assembled for
real; all others are copies of these by SQL, with a moment, a topic and a requester of their own, so that every page
about them works. Some agents ask more than others.
"""

import datetime
import itertools
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from teams.models import Team, User

TEAMS, AGENTS_OF_TEAM, MEMORIES_OF_AGENT = 20, 10, 20
ERAS = 3
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

chance = random.Random(1)


def fill(rows: int) -> "tuple[list[Team], list[User]]":
    """Create the teams, their agents, and this many contexts. Return the teams, and the people who requested them."""
    teams = [create_team(number) for number in range(TEAMS)]
    for era in range(ERAS):
        assemble_era(teams, era)
    people = create_people(teams)
    copy_contexts(rows, [person.principal.ref for person in people])
    return teams, people


def text(words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def create_team(number: int) -> "Team":
    """Create a team with its agents and their memories."""
    from agents.services import agent_create
    from memories.services import MemoryFacts, memories_create
    from teams.principal import SYSTEM
    from teams.services import team_create

    team = team_create(slug=f"team-{number}", name=f"Team {number}", principal=SYSTEM)
    for place in range(AGENTS_OF_TEAM):
        slug = f"agent-{number}-{place}"
        agent = agent_create(slug=slug, name=f"Agent {number}.{place}", teams=[team], instructions=text(200))
        facts = [MemoryFacts(kind="fact", text=text(20)) for _ in range(MEMORIES_OF_AGENT)]
        memories_create(owner=agent, facts=facts, principal=SYSTEM)
    return team


def assemble_era(teams: "list[Team]", era: int) -> None:
    """Save new versions of the files, and assemble a context of each agent."""
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.services import assemble
    from teams.principal import SYSTEM
    from teams.versioned_text.versioned_file import file_save

    for team in teams:
        for file in [*team.files.all(), *(file for agent in team.agents.all() for file in agent.files.all())]:
            file_save(file=file, content=text(300), expected_version=file.version, author=SYSTEM.author)
        for agent in team.agents.all():
            profile = "operations" if chance.random() < 0.2 else "conversation"
            asked = AssemblyRequest(topic=text(6), profile=profile, max_tokens=chance.choice([1_500, 4_000, 16_000]))
            assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)


def create_people(teams: "list[Team]") -> "list[User]":
    """Create fifty people who request contexts: the first is an admin, each other one may see one team."""
    from teams.models import User
    from teams.principal import Role
    from teams.services import membership_set

    people = [User.objects.create_user(f"person-{number}", name=f"Person {number}") for number in range(50)]
    User.objects.filter(id=people[0].id).update(is_admin=True)
    for number, person in enumerate(people[1:]):
        membership_set(team=teams[number % TEAMS], user=person, role=Role.VIEWER)
    return people


def copy_contexts(rows: int, people: list[str]) -> None:
    """Fill the table without its indexes, and build them afterwards, which is faster for so many rows."""
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
