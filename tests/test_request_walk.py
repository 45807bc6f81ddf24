"""One `POST /assemblies` without a topic runs code of few modules, and docs/architecture.md names each of them.

Counted are the modules of this project of which a function runs between the view and the row: from the call of the
endpoint to the end of the statement that writes the record. Middleware, which every request passes, is not counted.
"""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agents.models import Agent
from assembly.contexts.api import AssemblyList
from assembly.records import insert_sql
from teams.models import Team
from tests.client import Api

ROOT = Path(__file__).parent.parent
APPS = ("config", "teams", "agents", "memories", "assembly", "privacy")
MOST = 65
"""Modules."""


class Walk:
    """The modules whose code runs between the first call of the endpoint and the return of the writing function."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._is_inside = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code is AssemblyList.dispatch.__code__:
            self._is_inside = True
        if self._is_inside and event == "call" and code.co_name != "<module>" and _is_ours(code.co_filename):
            self.modules.add(Path(code.co_filename).relative_to(ROOT).as_posix())
        if event == "return" and code is insert_sql.insert_assembly.__code__:
            self._is_inside = False
            sys.setprofile(None)


def _is_ours(path: str) -> bool:
    return any(path.startswith(f"{ROOT / app}/") for app in APPS)


def modules_of_a_request(api: Api, body: dict[str, str]) -> list[str]:
    """Return the paths of the modules that one request runs, once its process is warm."""
    for _ in range(2):
        assert api.post("assemblies", body).status_code == 201
    walk = Walk()
    sys.setprofile(walk)
    try:
        assert api.post("assemblies", {**body, "now": "2026-01-05T12:00:00Z"}).status_code == 201
    finally:
        sys.setprofile(None)
    return sorted(walk.modules)


@pytest.mark.usefixtures("committed_database")  # in a transaction, nothing is read from the cache of source rows
def test_the_walk_of_a_request_is_short_and_documented(agent_api: Api, agent: Agent, team: Team) -> None:
    modules = modules_of_a_request(agent_api, {"agent": agent.slug, "team": team.slug})
    page = (ROOT / "docs/architecture.md").read_text()
    table = re.findall(r"^\| `([\w/]+\.py)` \|", page, re.MULTILINE)
    assert sorted(table) == modules
    assert len(modules) <= MOST
