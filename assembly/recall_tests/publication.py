"""Recall tests are run on a draft, a profile or a rule before it takes effect; a publication guard makes them binding:
see `assembly.recall_tests.refusal`.

Results of such runs are not stored, because a draft is visible to nobody but its author.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Coalesce, Concat

from agents.access import agent_for
from agents.access import is_permitted as may_with_agent
from agents.models import Agent, AgentFile
from assembly.engine.refs import Ref
from assembly.engine.rules import Rule
from assembly.models import PublicationGuard, RecallTest
from assembly.profiles.catalogue import find_profile_row, known_sources
from assembly.profiles.parser import parse_profile
from assembly.recall_tests.run import RecallRun, RunReport, UnsavedChange, run_tests, runs_of
from assembly.rules.services import Owner
from assembly.sources.kinds import ORGANISATION_FILE
from config.http.errors import Forbidden, NotFound
from teams.access import is_permitted as may_in_team
from teams.access import require_change_allowed, team_for
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import OrganisationFile, Team, TeamFile, TeamFileVersion
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import VersionedFile

PROFILE = "profile"


@dataclass(frozen=True, slots=True)
class GuardedText:
    """A text that can have a publication guard: a file of an agent, a team or the organisation, or a profile."""

    about: str
    name: str
    key: str
    """The key of the file, or the name of the profile."""
    agent: Agent | None = None
    team: Team | None = None
    file: OrganisationFile | None = None
    """The file, if it is the organisation's: its title is as sensitive as it is."""

    @property
    def is_profile(self) -> bool:
        """Whether it is a profile."""
        return self.about.startswith(f"{PROFILE}:")


def find_guarded_text(principal: Principal, about: str, action: Action = Action.READ) -> GuardedText:
    """Return the text with this ref, without a version. Raises NotFound and Forbidden."""
    found = _find_text(about)
    if found is None or not _is_permitted(principal, found, Action.READ):
        raise NotFound("This text")
    if not _is_permitted(principal, found, action):
        raise Forbidden("Your role does not allow this for this text. Ask an admin.")
    return found


def find_named_text(
    principal: Principal, *, agent: str = "", team: str = "", file: str = "", profile: str = "", action: Action
) -> GuardedText:
    """Return the profile of this name, or the file with this key: of the agent or the team, else of the organisation.

    Raises NotFound and Forbidden.
    """
    if profile:
        return find_guarded_text(principal, f"{PROFILE}:{profile}", action)
    found: VersionedFile | None
    if agent:
        found = AgentFile.objects.filter(agent=agent_for(principal, agent), file_key=file).first()
    elif team:
        found = TeamFile.objects.filter(team=team_for(principal, team), file_key=file).first()
    else:
        found = OrganisationFile.objects.filter(file_key=file).first()
    return find_guarded_text(principal, found.about if found else "", action)


def require_guard_allowed(principal: Principal, text: GuardedText) -> None:
    """Check that the principal may set or remove a guard of the text, which stops people, too: agents' keys may not
    where they may not change the text, because people wrote it. Raises Forbidden.
    """
    if text.team:
        require_change_allowed(
            principal, text.team, TeamFileVersion.objects.filter(file_id=_uuid(Ref.parse(text.about).id))
        )


def require_guard_removable(principal: Principal, text: GuardedText) -> None:
    """Check that the principal may remove the text's guard. Raises Forbidden.

    A guard of an agent's own file stops the agent, too, so that its keys remove only one that a key of it has set.
    """
    require_guard_allowed(principal, text)
    if principal.kind != "agent_key" or not text.agent:
        return
    setter = PublicationGuard.objects.filter(about=text.about).values_list("set_by", flat=True).first()
    if setter not in {f"key:{id_}" for id_ in text.agent.api_keys.values_list("id", flat=True)}:
        raise Forbidden("People set this guard, or an admin key did. Ask an editor of the agent to remove it.")


def _find_text(about: str) -> GuardedText | None:
    ref = Ref.parse(about)
    if ref.kind == PROFILE:
        return GuardedText(about, ref.id, ref.id) if find_profile_row(ref.id) else None
    id_ = _uuid(ref.id)
    if id_ is None:
        return None
    if ref.kind == "agent_file":
        file = AgentFile.objects.select_related("agent").filter(id=id_).first()
        name = f"{file.get_file_key_display()}, {file.agent}" if file else ""
        return GuardedText(about, name, file.file_key, agent=file.agent) if file else None
    if ref.kind == "team_file":
        text = TeamFile.objects.select_related("team").filter(id=id_).first()
        name = f"{text.get_file_key_display()}, {text.team.name}" if text else ""
        return GuardedText(about, name, text.file_key, team=text.team) if text else None
    known = OrganisationFile.objects.filter(id=id_).first() if ref.kind == ORGANISATION_FILE else None
    return GuardedText(about, known.title, known.file_key, file=known) if known else None


def _is_permitted(principal: Principal, text: GuardedText, action: Action) -> bool:
    if text.agent:
        visible = Agent.objects.visible_to(principal).filter(id=text.agent.id).exists()
        return visible and may_with_agent(principal, text.agent, action)
    if text.team:
        visible = Team.objects.visible_to(principal).filter(id=text.team.id).exists()
        return visible and may_in_team(principal, text.team, action)
    return action is Action.READ or principal.is_admin


def has_guard(about: str) -> bool:
    """Return whether the next version of the text is refused if it breaks a recall test; one query."""
    return PublicationGuard.objects.filter(about=about).exists()


def publication_guards_visible_to(principal: Principal) -> QuerySet[PublicationGuard]:
    """Return the guards of the texts that the principal may see, newest first, with the `file_key` of each file."""
    kinds: Mapping[str, type[Any]] = {
        "agent_file": AgentFile,
        "team_file": TeamFile,
        ORGANISATION_FILE: OrganisationFile,
    }
    keys = [
        Subquery(
            model.objects.annotate(named=Concat(Value(f"{kind}:", TextField()), Cast("id", TextField())))
            .filter(named=OuterRef("about"))
            .values("file_key")[:1]
        )
        for kind, model in kinds.items()
    ]
    guards = PublicationGuard.objects.select_related("agent", "team").annotate(
        file_key=Coalesce(*keys, output_field=TextField())
    )
    of_profiles = Q(about__startswith=f"{PROFILE}:")
    visible = guards.filter(
        Q(agent=None) | Q(agent__in=Agent.objects.visible_to(principal)),
        Q(team=None) | Q(team__in=Team.objects.visible_to(principal)),
    )
    return visible.filter(of_profiles | Q(file_key__isnull=False)).order_by("-created", "-id")


@transaction.atomic
def publication_guard_set(*, text: GuardedText, guarded: bool, principal: Principal) -> None:
    """Make recall tests binding for the next versions of the text, or not any more. The caller checks permissions."""
    if guarded == has_guard(text.about):
        return
    if guarded:
        PublicationGuard.objects.get_or_create(
            about=text.about,
            defaults={
                "agent": text.agent,
                "team": text.team,
                "set_by": principal.ref,
                "setter_name": principal.name,
            },
        )
    else:
        PublicationGuard.objects.filter(about=text.about).delete()
    action = ActivityAction.GUARD_SET if guarded else ActivityAction.GUARD_REMOVED
    activity_record(principal, action, text.name, team_ids=[text.team.id] if text.team else [], of=text.file)


def runs_concerned(about: str) -> list[RecallRun]:
    """Return the runs of active tests whose contexts can have the text, or use the profile; none for other texts.

    `about` is the ref of the text without a version, as drafts have it.
    """
    ref = Ref.parse(about)
    if ref.kind == PROFILE:
        return [run for run in runs_of(_active()) if run.profile_name == ref.id]
    if ref.kind == "daily_log":
        id_ = _uuid(ref.id.partition("/")[0])
        agent = Agent.objects.filter(id=id_).first() if id_ else None
        return runs_of_owner(agent) if agent else []
    text = _find_text(about)
    return runs_of_owner(text.agent or text.team) if text else []


def runs_of_owner(owner: Owner) -> list[RecallRun]:
    """Return the runs of active tests for the contexts of an agent, of a team, or of everybody (None)."""
    if isinstance(owner, Agent):
        teams = owner.team_links.values("team_id")
        return runs_of(_active(Q(agent=owner) | Q(agent=None, team__in=teams)), owner)
    return runs_of(_active(Q(team=owner) if owner else Q()))


def _active(condition: Q | None = None) -> list[RecallTest]:
    tests = RecallTest.objects.active().select_related("agent", "team")
    return sorted(tests.filter(condition or Q()), key=lambda test: (test.name.casefold(), test.id))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def visible_runs(principal: Principal, runs: Sequence[RecallRun]) -> list[RecallRun]:
    """Return the runs of tests and agents that the principal may see."""
    if principal.is_admin or not runs:
        return list(runs)
    tests = {*RecallTest.objects.visible_to(principal).values_list("id", flat=True)}
    agents = {*Agent.objects.visible_to(principal).values_list("id", flat=True)}
    return [run for run in runs if run.test.id in tests and run.agent.id in agents]


def try_draft(principal: Principal, about: str, content: str) -> RunReport:
    """Return the results of the tests that the principal may see, with the draft in place of the text."""
    return run_tests(visible_runs(principal, runs_concerned(about)), UnsavedChange(texts={about: content}))


def try_profile(principal: Principal, name: str, content: str) -> RunReport:
    """Return the results of the tests that the principal may see, with the text as the profile of this name.

    Raises Invalid, which names the line.
    """
    change = UnsavedChange(profile=parse_profile(content, name=name, version=1, sources=known_sources()))
    return run_tests(visible_runs(principal, runs_concerned(f"{PROFILE}:{name}")), change)


def try_rule(principal: Principal, rule: Rule, owner: Owner) -> RunReport:
    """Return the results of the tests that the principal may see, with the rule of this owner in force."""
    return run_tests(visible_runs(principal, runs_of_owner(owner)), UnsavedChange(rule=rule))
