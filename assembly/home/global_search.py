"""The search over everything that a person may see: owners, files, logs, memories, contexts, setup, people, actions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.models import Agent, AgentFile
from assembly.contexts.search.db import bounded_search
from assembly.contexts.search.item_rows import (
    files_with_names,
    logs_with_words,
    memories_with_words,
    organisation_files_with_names,
    rows_with_words,
)
from assembly.contexts.search.parameters import parse_context_query
from assembly.contexts.search.search import search_contexts
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.models import Assembly, ExternalSource, StoredRule
from assembly.profiles.catalogue import all_profiles
from assembly.rules.forms import owner_choices
from teams.models import OrganisationFile, Team, TeamFile, User
from teams.principal import Principal

MAX_CHARACTERS = 200
MAX_FOUND = 5
"""Most results of a group."""
TITLE_CHARACTERS = 90


@dataclass(frozen=True, slots=True)
class Found:
    """A result: its title, the address of its page, and a note such as its owner."""

    title: str
    address: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FoundGroup:
    """The results of one kind."""

    label: str
    found: Sequence[Found]


@dataclass(frozen=True, slots=True)
class _Searcher:
    """A search by these words for what the principal may see."""

    principal: Principal
    words: str

    @property
    def agents(self) -> QuerySet[Agent]:
        return Agent.objects.visible_to(self.principal)

    @property
    def teams(self) -> QuerySet[Team]:
        return Team.objects.visible_to(self.principal)

    def matching(self, rows: QuerySet[Any], *columns: str) -> QuerySet[Any]:
        """Return the rows in which each word occurs in one of the columns."""
        return rows_with_words(rows, self.words, *columns)

    def matches(self, text: str) -> bool:
        """Return whether each word occurs in the text."""
        folded = text.casefold()
        return all(word in folded for word in self.words.casefold().split())


def search_everything(principal: Principal, words: str) -> list[FoundGroup]:
    """Return what the principal may see and that matches the words, at most five of each kind.

    Raises SearchTooBroad if it takes more than three seconds.
    """
    searcher = _Searcher(principal, words)
    groups = []
    with bounded_search():
        for label, find in FINDERS:
            if found := [*islice(find(searcher), MAX_FOUND)]:
                groups.append(FoundGroup(str(label), found))
    if contexts := [*_contexts(searcher)]:
        groups.append(FoundGroup(_("Contexts"), contexts))
    return groups


def _agents(searcher: _Searcher) -> Iterator[Found]:
    for agent in searcher.matching(searcher.agents, "name", "slug").order_by("name")[:MAX_FOUND]:
        yield Found(agent.name, reverse("agent_page", args=[agent.slug]), agent.slug)


def _teams(searcher: _Searcher) -> Iterator[Found]:
    for team in searcher.matching(searcher.teams, "name", "slug").order_by("name")[:MAX_FOUND]:
        yield Found(team.name, reverse("team_page", args=[team.slug]), team.slug)


def _files(searcher: _Searcher) -> Iterator[Found]:
    """Yield files that the words name, then files whose text contains the whole phrase."""
    named = organisation_files_with_names(searcher.words)
    yield from map(_organisation_file, named[:MAX_FOUND])
    both = files_with_names(searcher.words, agents=searcher.agents, teams=searcher.teams)
    for rows, is_named in both:
        yield from map(_file, rows.filter(is_named).order_by("file_key", "id")[:MAX_FOUND])
    texts = OrganisationFile.objects.filter(content__icontains=searcher.words).defer("content")
    others = texts.exclude(id__in=named.order_by().values("id"))
    found = sorted(others, key=lambda file: (file.title.casefold(), file.file_key))
    yield from map(_organisation_file, found[:MAX_FOUND])
    for rows, is_named in both:
        containing = rows.filter(content__icontains=searcher.words).exclude(is_named)
        yield from map(_file, containing.order_by("file_key", "id")[:MAX_FOUND])


def _organisation_file(row: OrganisationFile) -> Found:
    return Found(row.title, reverse("organisation_file", args=[row.file_key]), _("Organisation"))


def _file(row: TeamFile | AgentFile) -> Found:
    page, owner = ("team_file", row.team) if isinstance(row, TeamFile) else ("agent_file", row.agent)
    return Found(row.get_file_key_display(), reverse(page, args=[owner.slug, row.file_key]), owner.name)


def _logs(searcher: _Searcher) -> Iterator[Found]:
    for row in logs_with_words(searcher.words, searcher.agents)[:MAX_FOUND]:
        address = reverse("daily_log", args=[row.agent.slug, row.date])
        yield Found(date_format(row.date, "j F Y"), address, row.agent.name)


def _memories(searcher: _Searcher) -> Iterator[Found]:
    for row in memories_with_words(searcher.words, agents=searcher.agents, teams=searcher.teams)[:MAX_FOUND]:
        title = Truncator(" ".join(row.text.split())).chars(TITLE_CHARACTERS)
        yield Found(title, reverse("memory", args=[row.id]), row.owner_name)


def _rules(searcher: _Searcher) -> Iterator[Found]:
    rows = searcher.matching(StoredRule.objects.visible_to(searcher.principal), "name", "content")
    for rule in rows.order_by("name")[:MAX_FOUND]:
        yield Found(rule.name, reverse("rule_page", args=[rule.name]), "" if rule.enabled else _("disabled"))


def _profiles(searcher: _Searcher) -> Iterator[Found]:
    for entry in all_profiles():
        if searcher.matches(entry.name):
            yield Found(entry.name, reverse("profile_page", args=[entry.name]))


def _sources(searcher: _Searcher) -> Iterator[Found]:
    rows = searcher.matching(ExternalSource.objects.all(), "name", "label")
    for source in rows.order_by("name")[:MAX_FOUND]:
        yield Found(source.label or source.name, reverse("external_page", args=[source.name]))


def _people(searcher: _Searcher) -> Iterator[Found]:
    if searcher.principal.is_admin:
        rows = searcher.matching(User.objects.all(), "name", "username", "email")
        for person in rows.order_by("name", "username")[:MAX_FOUND]:
            yield Found(str(person), reverse("person", args=[person.id]), person.username)


EVERYBODY, ADMINS = False, True
ACTIONS: Sequence[tuple[str, str | Promise, bool]] = (
    ("preview", gettext_lazy("Preview context"), EVERYBODY),
    ("context_list", gettext_lazy("Search contexts"), EVERYBODY),
    ("user_settings", gettext_lazy("Settings: time zone, theme, name"), EVERYBODY),
    ("account_change_password", gettext_lazy("Change password"), EVERYBODY),
    ("import_new", gettext_lazy("Import archive"), EVERYBODY),
    ("trends", gettext_lazy("Open trends"), EVERYBODY),
    ("alert_list", gettext_lazy("Open alerts"), EVERYBODY),
    ("conflict_list", gettext_lazy("Open conflicts"), EVERYBODY),
    ("limits", gettext_lazy("Usage and limits"), EVERYBODY),
    ("api_docs", gettext_lazy("API documentation"), EVERYBODY),
    ("organisation_files", gettext_lazy("Organisation knowledge"), EVERYBODY),
    ("organisation_file_new", gettext_lazy("Create organisation knowledge"), ADMINS),
    ("team_new", gettext_lazy("Create team"), ADMINS),
    ("agent_new", gettext_lazy("Create agent"), ADMINS),
    ("people", gettext_lazy("Create account, people"), ADMINS),
    ("profile_new", gettext_lazy("Create context profile"), ADMINS),
    ("external_new", gettext_lazy("Create external source"), ADMINS),
    ("webhook_new", gettext_lazy("Create webhook"), ADMINS),
    ("key_list", gettext_lazy("Create API key"), ADMINS),
    ("retention", gettext_lazy("Data retention"), ADMINS),
    ("activity_log", gettext_lazy("Activity log"), ADMINS),
    ("reading_log", gettext_lazy("Reading log: who opened confidential texts"), ADMINS),
    ("organisation_export", gettext_lazy("Export everything"), ADMINS),
)
"""The pages that start an action, by URL name; those of admins are offered to admins alone."""


def _actions(searcher: _Searcher) -> Iterator[Found]:
    for name, label, of_admins in ACTIONS:
        if searcher.matches(str(label)) and (searcher.principal.is_admin or not of_admins):
            yield Found(str(label), reverse(name))
    rule_label = _("Create context rule")
    if searcher.matches(rule_label) and owner_choices(searcher.principal):
        yield Found(rule_label, reverse("rule_new"))


FINDERS: Sequence[tuple[str | Promise, Callable[[_Searcher], Iterator[Found]]]] = (
    (gettext_lazy("Agents"), _agents),
    (gettext_lazy("Teams"), _teams),
    (gettext_lazy("Files"), _files),
    (gettext_lazy("Daily logs"), _logs),
    (gettext_lazy("Memories"), _memories),
    (gettext_lazy("Context rules"), _rules),
    (gettext_lazy("Context profiles"), _profiles),
    (gettext_lazy("External sources"), _sources),
    (gettext_lazy("People"), _people),
    (gettext_lazy("Actions"), _actions),
)


def _contexts(searcher: _Searcher) -> Iterator[Found]:
    """Yield the context with this id, or the newest ones whose topic or text has the words."""
    for context in _found_contexts(searcher):
        title = f"{context.agent_name} · {date_format(context.created, 'j M Y, H:i')}"
        topic = Truncator(context.topic).chars(TITLE_CHARACTERS) or _("No topic")
        yield Found(title, reverse("context", args=[context.id]), topic)


def _found_contexts(searcher: _Searcher) -> Sequence[Assembly]:
    try:
        return list(Assembly.objects.visible_to(searcher.principal).listed().filter(id=UUID(searcher.words)))
    except ValueError:
        visible = VisibleOwners(searcher.principal)
        wanted, faults = parse_context_query({"q": searcher.words}, visible)
        return [] if faults else search_contexts(visible=visible, wanted=wanted, limit=MAX_FOUND).contexts
