"""A text that somebody typed or pasted, as a thing that contexts hold: a ref, or the address of a page."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from agents.access import agent_for
from agents.models import AgentFile, DailyLog
from assembly.comparing import named
from assembly.finding.wanted import Thing
from config.http.errors import NotFound
from teams.access import team_for
from teams.models import TeamFile
from teams.principal import Principal

MAX_CHARACTERS = 160  # of a ref, as the record keeps it
REF = re.compile(r"[a-z0-9_-]+:\S+")
OF_AGENT = {"entity", "pattern", "thread", "tool"}
"""Pages of what agents keep, called after what the refs begin with."""

Finder = Callable[[Principal, Mapping[str, Any]], str]


def is_name(text: str) -> bool:
    """Whether it is neither a ref nor an address, so that it may be what people call a thing."""
    return not (_is_address(text) or REF.fullmatch(text))


def thing_of(text: str, principal: Principal) -> Thing:
    """The thing that a ref or the address of a page names. Raises ValueError, with a sentence."""
    text = text.strip()
    if _is_address(text):
        return _on_page(text, principal)
    if len(text) > MAX_CHARACTERS or not REF.fullmatch(text):
        raise ValueError(_("Paste the address of the page of a file, a memory or another thing, or its ref."))
    return Thing(named(text), text)


def _is_address(text: str) -> bool:
    return text.startswith(("/", "http:", "https:"))


def _on_page(address: str, principal: Principal) -> Thing:
    """What the page is about; on a page of one version, that version."""
    try:
        page = resolve(urlsplit(address).path)
        kind = _kind_of(page.url_name or "")
        whole = f"{REFS.get(kind, kind)}:{FINDERS[kind](principal, page.kwargs)}"
        return Thing(whole, f"{whole}@{page.kwargs['number']}" if "number" in page.kwargs else whole)
    except (Resolver404, KeyError, NotFound, ValueError):
        raise ValueError(
            _("This is no page of a file, a daily log, a memory or another thing that you may read.")
        ) from None


def _kind_of(page: str) -> str:
    """What the page is about, by its name: agent_file_history → agent_file."""
    return next((kind for kind in FINDERS if page == kind or page.startswith(f"{kind}_")), page)


def _agent_file(principal: Principal, address: Mapping[str, Any]) -> str:
    return _id_of(AgentFile.objects.filter(agent=agent_for(principal, address["slug"]), file_key=address["key"]))


def _team_file(principal: Principal, address: Mapping[str, Any]) -> str:
    return _id_of(TeamFile.objects.filter(team=team_for(principal, address["slug"]), file_key=address["key"]))


def _daily_log(principal: Principal, address: Mapping[str, Any]) -> str:
    return _id_of(DailyLog.objects.filter(agent=agent_for(principal, address["slug"]), date=address["date"]))


def _given(name: str) -> Finder:
    """The id that stands in the address: whether it may be read, each context says for itself."""
    return lambda _principal, address: str(address[name])


def _id_of(rows: Any) -> str:
    found: UUID | None = rows.values_list("id", flat=True).first()
    if found is None:
        raise NotFound
    return str(found)


FINDERS: dict[str, Finder] = {
    "agent_file": _agent_file,
    "team_file": _team_file,
    "daily_log": _daily_log,
    "memory": _given("id_"),
    "event": _given("event_id"),
    "document": _given("thing_id"),
    **{kind: _given("thing_id") for kind in OF_AGENT},
}
REFS = {"document": "chunk"}
"""What refs begin with, where that is not the name of the page."""
