"""Hostile texts in a real browser, on every page that shows them: none runs, and none reaches the outside."""

import datetime
from collections.abc import Iterator

import pytest
from playwright.sync_api import Dialog, Page, Request, expect

from agents.models import Agent
from agents.services import daily_log_append, daily_log_replace
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.services import MemoryFacts, memories_create
from teams.models import Team, TeamFile, User
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS, file_save
from tests.attacks import ATTACKS, texts_of_attacks
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser

TRIPWIRE = """
window.tripped = [];
for (const name of ["__xss", "alert", "confirm", "prompt"]) window[name] = () => { window.tripped.push(name); };
"""
# Touches all that a text became, as a person might, and then looks for what no text may become.
LOOK = """() => {
  const places = [...document.querySelectorAll("main :is(.prose, .lines, .text, .items, .exact, .said-of-it)")];
  const parts = places.flatMap((place) => [...place.querySelectorAll("*")]);
  for (const part of parts) {
    for (const kind of ["mouseover", "pointerenter"]) part.dispatchEvent(new Event(kind, { bubbles: true }));
    part.focus?.();
  }
  const ours = "svg.share, svg.share *";
  const harmful = "script, iframe, frame, object, embed, svg, math, img, video, audio, style, link, meta, base";
  const links = [...document.querySelectorAll("main a[href]")];
  return [
    ...window.tripped,
    ...parts.filter((part) => part.matches(harmful) && !part.matches(ours)).map((part) => part.outerHTML),
    ...parts.flatMap((part) => [...part.attributes].filter((one) => /^(on|style|hx-|data-hx)/i.test(one.name))
      .map((one) => `${part.tagName} ${one.name}`)),
    ...links.filter((link) => !["http:", "https:", "mailto:"].includes(link.protocol)).map((link) => link.href),
  ];
}"""


@pytest.fixture
def watched(page: Page, server: str) -> Iterator[Page]:
    """A page whose dialogs and requests to elsewhere fail the test."""
    seen: list[str] = []
    page.add_init_script(TRIPWIRE)

    def close(dialog: Dialog) -> None:
        seen.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def note(request: Request) -> None:
        if not request.url.startswith(server):
            seen.append(request.url)

    page.on("dialog", close)
    page.on("request", note)
    yield page
    assert seen == []


def tripped(page: Page, address: str) -> list[str]:
    response = page.goto(address)
    assert response is not None
    assert response.status == 200, address
    return [f"{address}: {found}" for found in page.evaluate(LOOK)]


def test_the_tripwire_is_alive(page: Page, server: str) -> None:
    page.add_init_script(TRIPWIRE)
    page.goto(f"{server}/accounts/login/")
    page.evaluate("""() => {
      document.querySelector("main").innerHTML =
        '<p class="prose"><a href="javascript:__xss()" onclick="x">x</a><svg></svg></p>';
      alert(1);
    }""")
    assert page.evaluate(LOOK) == ["alert", "<svg></svg>", "A onclick", "javascript:__xss()"]


def test_hostile_texts_do_nothing(watched: Page, server: str, team: Team, complaints: list[str]) -> None:
    olga = User.objects.get(username="olga").principal
    texts = texts_of_attacks(4)
    notes = [attacks[0].replace("\n", " ")[:MAX_NOTE_CHARACTERS] for attacks in ATTACKS.values()]
    file = TeamFile.objects.get(team=team, file_key="GOALS")
    for number, text in enumerate(texts, 1):
        file = file_save(file=file, content=text, expected_version=number, author=olga.author, note=notes[-number])
    agent, day = Agent.objects.get(slug="luna"), datetime.date(2026, 3, 1)
    log = daily_log_append(agent=agent, date=day, text=texts[0], principal=olga)
    daily_log_replace(log=log, content="\n\n".join(texts), expected_version=1, principal=olga)
    facts = [MemoryFacts(kind="fact", text=attack) for attacks in ATTACKS.values() for attack in attacks[:2]]
    memories_create(owner=team, facts=facts, principal=olga)
    context = assemble(agent=agent, team=team, principal=olga, asked=AssemblyRequest(max_tokens=60_000)).assembly
    history = f"{server}/teams/demo/files/GOALS/history/"
    sign_in(watched, server)
    addresses = [history, f"{server}/contexts/{context.id}/", f"{server}/teams/demo/memories/", f"{server}/teams/demo/"]
    for number in range(2, len(texts) + 2):
        compare = f"{history}compare/?from={number - 1}&to={number}"
        addresses += [f"{history}{number}/", f"{history}{number}/?as=source", compare, f"{compare}&as=source"]
    log_address = f"{server}/agents/luna/logs/{day}/"
    addresses += [log_address, f"{log_address}history/compare/", f"{server}/agents/luna/", f"{server}/"]
    found = [line for address in addresses for line in tripped(watched, address)]
    found += tripped(watched, f"{server}/teams/demo/files/GOALS/")
    watched.get_by_role("button", name="Formatted view", exact=True).click()
    expect(watched.locator("#preview .prose")).to_contain_text("code and its language")
    assert found + watched.evaluate(LOOK) == []
