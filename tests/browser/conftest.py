"""A real Chromium at the real server: uvicorn in a thread of the tests, on a database in which commits happen."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from django.conf import settings
from django.test import Client
from playwright.sync_api import ConsoleMessage, Page

from agents.models import Agent
from agents.services import agent_create, daily_log_append
from assembly.models import Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import Role
from teams.services import membership_set, team_create
from teams.versioned_text.versioned_file import file_save
from tests.browser.chromium import CHROMIUM

# Playwright's synchronous interface runs an event loop in this thread, in which Django would refuse the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
PASSWORD = "correct horse 7"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium: nothing is downloaded."""
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("There is no Chromium on this machine.")
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": ["--no-sandbox"]}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """Nothing moves: what is looked at halfway has colours that it has nowhere else."""
    return {**browser_context_args, "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def base_url() -> str:
    """Nothing: tests name whole addresses. (The plugin's own fixture is of a kind that pytest 9 warns about.)"""
    return ""


@pytest.fixture
def static_files(settings: Any, tmp_path: Path) -> None:
    """Static files as they are in the source."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = tmp_path
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = True


@contextmanager
def serving() -> Iterator[str]:
    """Dossier at the database of the moment, served by uvicorn. Yields its address."""
    # Lets the application see the settings above.
    from config.asgi import get_application

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(get_application(), log_level="error", lifespan="off")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not running.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        running.should_exit = True
        thread.join(timeout=10)


@pytest.fixture
def server(committed_database: str, static_files: None) -> Iterator[str]:
    """The address of a Dossier of the test's own."""
    with serving() as address:
        yield address


@pytest.fixture
def team(server: str) -> Team:
    """A team of the test's own."""
    return team_that_works()


def team_that_works() -> Team:
    """A new team with an owner (olga) and a viewer (tim), an agent and all that it knows."""
    owner = User.objects.create_user("olga", PASSWORD, name="Olga Owner")
    team = team_create(slug="demo", name="Demo", principal=owner.principal)
    membership_set(team=team, user=User.objects.create_user("tim", PASSWORD, name="Tim"), role=Role.VIEWER)
    agent = agent_create(slug="luna", name="Luna", teams=[team], instructions="Be kind.")
    knowledge = agent.files.get(file_key="KNOWLEDGE")
    text = "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(30))
    file_save(file=knowledge, content=text, expected_version=1, author=owner.principal.author)
    facts = [MemoryFacts(kind="fact", text=f"The stage number {number} is free") for number in range(7)]
    memories_create(owner=team, facts=facts, principal=owner.principal)
    memories_create(owner=agent, facts=facts[:1], principal=owner.principal)
    daily_log_append(agent=agent, date=_today(agent), text="Rehearsed.", principal=owner.principal)
    assemble(
        agent=agent,
        team=team,
        principal=owner.principal,
        asked=AssemblyRequest(topic="the stage", purpose=Purpose.AGENT),
    )
    assemble(
        agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest(max_tokens=1, purpose=Purpose.AGENT)
    )
    return team


def _today(agent: Agent) -> Any:
    from django.utils import timezone

    return agent.today(timezone.now())


@pytest.fixture
def complaints(page: Page) -> Iterator[list[str]]:
    """What the browser complained about: errors of scripts and violations of the content security policy. None may."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            found.append(f"{page.url}: {message.text}")

    page.on("console", note)
    page.on("pageerror", lambda error: found.append(f"{page.url}: {error}"))
    yield found
    assert found == []


def sign_in(page: Page, server: str, username: str = "olga") -> None:
    """As who came back: the browser has the cookie already. How one signs in, the stories tell."""
    client = Client()
    client.force_login(User.objects.get(username=username))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": server}])


def sign_in_by_form(page: Page, server: str, username: str = "olga") -> None:
    """As people do. Ends at home."""
    page.goto(f"{server}/accounts/login/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{server}/")
