"""The pages that people open most, with 100,000 contexts (ROWS=): milliseconds at the server, and bytes as sent.

The bytes are those of the page alone, compressed; tests/browser/test_every_page.py weighs each page with its styles and
scripts in a browser (150 kB at most), and fails if anything moves while it is drawn.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.many_contexts import fill
from tests.benchmarks.million import measure

if TYPE_CHECKING:
    from teams.models import Team, User

NAME = "pages"
ROWS = 100_000
CANDIDATES = 2_000


def run() -> None:
    """Print p50 and p95 of each page, and its bytes."""
    manage("migrate", "--verbosity", "0")
    manage("collectstatic", "--no-input", "--verbosity", "0")
    django.setup()
    teams, people = fill(int(os.environ.get("ROWS", ROWS)))
    for name, ask in _pages(teams, people).items():
        measure(NAME, name, ask)
        figure(NAME, f"{name}_bytes", len(ask().content), "bytes", 1)


def _pages(teams: "list[Team]", people: "list[User]") -> Mapping[str, Callable[[], Any]]:
    """By the name of the figure, what opens a page; `_of_viewer` for a person who sees one team alone."""
    from django.test import Client

    from tests.assembly.large_record import context_of_many

    clients = [Client(SERVER_NAME="localhost", headers={"Accept-Encoding": "gzip"}) for _ in range(2)]
    for client, person in zip(clients, people, strict=False):
        client.force_login(person)
    agent = teams[0].agents.order_by("id")[0]
    many = context_of_many(agent, teams[0], people[0].principal, candidates=CANDIDATES).id
    addresses = {
        "home": "/",
        "context_list": "/contexts/",
        "context_summary": f"/contexts/{many}/",
        "context_items": f"/contexts/{many}/items/",
        "context_items_sorted": f"/contexts/{many}/items/?sort=-score&item=7",
        "context_text": f"/contexts/{many}/exact/",
        "context_json": f"/contexts/{many}/json/",
        "editor": f"/agents/{agent.slug}/files/KNOWLEDGE/",
        "search": f"/search/?q={agent.slug}",
        "trends": "/trends/",
        "activity_log": "/activity/",
    }
    admin, viewer = clients

    def page(client: Client, address: str) -> Callable[[], Any]:
        return lambda: client.get(address)

    return {name: page(admin, address) for name, address in addresses.items()} | {
        f"{name}_of_viewer": page(viewer, addresses[name]) for name in ("home", "context_list", "trends")
    }
