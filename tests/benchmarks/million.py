"""The list of contexts with 1,000,000 of them; ROWS=100000 has fewer. Figures are milliseconds at the server."""

import datetime
import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.many_contexts import AGENTS_OF_TEAM, TEAMS, WORDS, YEAR, chance, fill

if TYPE_CHECKING:
    from teams.models import Team, User

NAME = "million"
ROWS = 1_000_000
TIMES, WARM = 40, 3


def run() -> None:
    """Print p50 and p95 of every page and filter, and what a row takes."""
    os.environ["ENCRYPT_RECORDS"] = "off"  # rows are copied, and an encrypted body belongs to its own record
    manage("migrate", "--verbosity", "0")
    manage("collectstatic", "--no-input", "--verbosity", "0")
    django.setup()
    rows = int(os.environ.get("ROWS", ROWS))
    began = time.perf_counter()
    teams, people = fill(rows)
    figure(NAME, "generate", time.perf_counter() - began, "s", rows)
    _report_sizes()
    for name, ask in _questions(teams, people).items():
        measure(NAME, name, ask)


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
    pick = chance.choice

    def page(query: Callable[[], str], client: Client = admin) -> Callable[[], Any]:
        return lambda: client.get(f"/contexts/?{query()}")

    def deep() -> str:
        from config.http.cursors import encode_cursor

        at = timezone.now() - YEAR * chance.random()
        return f"cursor={encode_cursor([at, ids[0]])}"

    def agent() -> str:
        return f"agent-{chance.randrange(TEAMS)}-{chance.randrange(AGENTS_OF_TEAM)}"

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
        "left_out": page(lambda: "outcome=excluded"),
        "cut": page(lambda: "outcome=truncated"),
        "contains_memory": page(lambda: f"included_ref={pick(memories)}"),
        "contains_memory_of_viewer": page(lambda: f"included_ref={pick(memories)}", viewer),
        "omits_memory": page(lambda: f"excluded_ref={pick(memories)}"),
        "contains_file": page(lambda: f"included_ref=agent_file:{pick(files)}"),
        "contains_team_file": page(lambda: f"included_ref=team_file:{pick(goals)}"),
        "contains_old_version": page(lambda: f"included_ref=team_file:{pick(goals)}@2"),
        "contains_nowhere": page(lambda: "included_ref=memory:00000000-0000-0000-0000-000000000000"),
        "words_of_topic": page(lambda: f"q={pick(WORDS)}"),
        "words_of_name": page(lambda: f"q=Agent+{pick(WORDS)}"),
        "words_everywhere": page(lambda: "q=agent"),
        "words_two": page(lambda: f"q={pick(WORDS)}+{pick(WORDS)}"),
        "agent_and_days_and_left_out": page(lambda: f"agent={agent()}&when=month&outcome=excluded"),
        "agent_and_file_of_another": page(lambda: f"agent={agent()}&included_ref=agent_file:{pick(files)}"),
        "team_and_memory_and_reason": page(
            lambda: f"team={pick(teams).slug}&included_ref={pick(memories)}&reason=outranked"
        ),
        "detail": lambda: admin.get(f"/contexts/{pick(ids)}/"),
        "api_list": lambda: api.get("/api/v1/assemblies"),
        "api_contains": lambda: api.get(f"/api/v1/assemblies?included_ref={pick(memories)}"),
        "api_detail": lambda: api.get(f"/api/v1/assemblies/{pick(ids)}"),
    }


def measure(benchmark: str, name: str, ask: Callable[[], Any]) -> None:
    """Print p50 and p95 of the milliseconds that the request takes at the server."""
    took = []
    for _ in range(WARM + TIMES):
        started = time.perf_counter()
        answer = ask()
        took.append((time.perf_counter() - started) * 1000)
        assert answer.status_code == 200, answer.content
    measured = sorted(took[WARM:])
    figure(benchmark, f"{name}_p50", statistics.median(measured), "ms", TIMES)
    figure(benchmark, f"{name}_p95", measured[round(0.95 * TIMES) - 1], "ms", TIMES)
