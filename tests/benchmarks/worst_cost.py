"""What the costliest requests cost: processor seconds and memory of the worst input of each route, in one process.

`worst_cpu_s` and `worst_mb` are the largest of all; `grown_mb` is by how much the process is larger after all of them.
Each route's own figures come before. What the database computes is not counted, nor are threads that others end.
"""

import gc
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

import django
from django.test import override_settings

from config.server.memory_settings import child_environment, release_memory
from tests.benchmarks.costly_agents import LADEN, TEAM, compared_versions, laden
from tests.benchmarks.costly_requests import CostlyRequest, costly_requests
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

NAME = "worst_cost"
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


def run() -> None:
    """Print CPU seconds and megabytes of each request, and the worst, beginning as a web process does."""
    command = [sys.executable, "-m", "tests.benchmarks.worst_cost"]
    subprocess.run(command, env=child_environment({}), check=True)


def measure_costs() -> None:
    """Do so in this process."""
    manage("migrate", "--verbosity", "0")
    manage("collectstatic", "--noinput", "--verbosity", "0")
    # What is measured is the work, however busy the machine is.
    os.environ["ASSEMBLY_TIME_MS"] = "600000"
    django.setup()
    from django.utils import timezone

    from memories.embeddings.wordllama import warm_up

    warm_up()
    names = laden(timezone.now())
    compared_versions()
    asker = _Asker(names)
    requests = costly_requests()
    for request in requests[:1]:
        asker.cost(request)
    gc.collect()
    before = _megabytes("VmRSS")
    costs = [(*asker.cost(request), request.name) for request in requests]
    figure(NAME, "worst_cpu_s", max(cpu for cpu, _, _ in costs), "s", len(costs))
    figure(NAME, "worst_mb", max(megabytes for _, megabytes, _ in costs), "MB", len(costs))
    gc.collect()
    figure(NAME, "grown_mb", _megabytes("VmRSS") - before, "MB", len(costs))


class _Asker:
    """Sends the requests as an admin, by key or signed in, without a network in between."""

    def __init__(self, names: dict[str, str]) -> None:
        from django.test import Client

        from agents.keys import api_key_create
        from teams.models import User

        self._page = Client(raise_request_exception=False, SERVER_NAME="localhost")
        self._page.force_login(User.objects.create_user("costly", name="Costly", is_admin=True))
        key = api_key_create(agent=None, name="Costly")[1]
        self._api = Client(
            headers={"Authorization": f"Bearer {key}"}, raise_request_exception=False, SERVER_NAME="localhost"
        )
        self._names = names | {"assembly": str(self._assembled("stack")), "other": str(self._assembled("coding"))}
        self._names["proposal"] = str(self._proposed(self._names["assembly"]))

    def _assembled(self, profile: str) -> UUID:
        body = {"agent": LADEN, "team": TEAM, "profile": profile, "max_tokens": 100_000, "topic": "w1 x1"}
        # It may cost more than a request may: others may have been recorded when the limits were larger.
        with override_settings(REQUEST_CPU_MS=600_000):
            return self._created("assemblies", body)

    def _proposed(self, assembly: str) -> UUID:
        return self._created("proposals", {"assembly_id": assembly, "overrides": {"max_tokens": 200_000}})

    def _created(self, path: str, body: dict[str, Any]) -> UUID:
        answer = self._api.post(f"/api/v1/{path}", body, content_type="application/json")
        if answer.status_code != 201:
            sys.exit(f"{path}: {answer.content[:500]!r}")
        return UUID(answer.json()["id"])

    def cost(self, request: CostlyRequest) -> tuple[float, float]:
        """CPU seconds of the request, and by how many megabytes the process grew meanwhile; both are printed."""
        client = self._page if request.is_page else self._api
        sent = request.sent(self._names)
        gc.collect()
        CLEAR_REFS.write_text("5")  # the peak is counted anew
        resting, begun = _megabytes("VmRSS"), time.process_time()
        answer = client.generic(request.method, sent.path, sent.body, content_type=sent.content_type)
        cpu, megabytes = time.process_time() - begun, _megabytes("VmHWM") - resting
        status = answer.status_code
        del answer
        release_memory(cpu)  # as the server does
        figure(NAME, f"{request.name} [{status}] cpu", cpu, "s", 1)
        figure(NAME, f"{request.name} [{status}] memory", megabytes, "MB", 1)
        return cpu, megabytes


def _megabytes(name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    assert found
    return int(found[1]) / 1024


if __name__ == "__main__":
    measure_costs()
