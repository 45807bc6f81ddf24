"""Four teams that each have one of everything, and people and keys whose rights differ from team to team.

As `mixed` of the cast, with things that belong to the teams. Every team has an admin of its own, so that a query for
“any admin” in place of “this person as admin” is found out.
"""

import datetime
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.test import Client
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from agents.services import agent_create, daily_log_append, daily_log_replace
from assembly.conflicts.services import conflict_resolve
from assembly.contexts.exports import context_file_create
from assembly.engine.types import field_values
from assembly.models import (
    Alert,
    ExternalSource,
    LearnedWeights,
    Notification,
    NotificationKind,
    PublicationGuard,
    ShadowReport,
    StoredProfile,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from assembly.monitoring.webhooks.delivery import DELIVERY
from assembly.monitoring.webhooks.http_post import secret_new
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import find_profile
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create, recall_test_run
from assembly.records.retention_policies import RetentionRule, assembly_flag, retention_set
from assembly.rules.services import rule_create, rule_save
from assembly.simulation.proposals.services import proposal_create
from assembly.simulation.simulate import Overrides
from config.http.encryption import encrypt
from memories.archive.services import import_create
from memories.models import Job, JobStatus, LifecycleReport, Memory
from memories.services import MemoryFacts, MergeRequest, memories_merge, memory_create, memory_update
from privacy.erasure.holds import hold_set
from privacy.models import CorrectionResult, HoldKind, Subject, SubjectCorrection, SubjectErasure
from privacy.subjects.export import subject_file_create
from privacy.subjects.services import SubjectFacts, subject_create
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM, Role
from teams.services import membership_set, team_create
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_create, file_save
from tests.archives import packed
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.client import Api
from tests.memories.agent_items import things_of

DAY = datetime.date(2026, 1, 5)
RULE = "then: {exclude: [{source: daily_logs}]}\n"
OTHER_RULE = "then: {exclude: [{source: team_files}]}\n"
PUBLIC_URL = "https://93.184.216.34/hooks"
PRIVATE_URL = "https://127.0.0.1/hooks"
"""Of what is stored, so that a message or a question to it is refused before it leaves the machine."""
PROFILE = SHIPPED["conversation"].replace("name: conversation", "name: house")


@dataclass(frozen=True, slots=True)
class Owned:
    """A team, its agent, and the id of one thing of each kind that belongs to them, by its word in addresses.

    `secret` is a word that stands in every text and name of theirs, and in nothing else.
    """

    secret: str
    team: Team
    agent: Agent
    boss: User
    member: User
    key: ApiKey
    ids: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class World:
    """The teams by what the mixed person is there, everybody by name, and what belongs to no team."""

    teams: Mapping[str, Owned]
    people: Mapping[str, User]
    keys: Mapping[str, Api]
    ids: Mapping[str, Any]
    """What belongs to the organisation, and what belongs to the mixed person alone."""
    browsers: Mapping[str, Client]
    """In which everybody is signed in; “nobody” is not."""

    def api(self, who: str) -> Api:
        """The API as asked with a key, or as a person would see it."""
        if who in self.keys:
            return self.keys[who]
        return Api(person=self.people[who].principal) if who in self.people else Api()


LED, HELPED, WATCHED, FOREIGN = "led", "helped", "watched", "foreign"
MIXED_ROLES = {LED: Role.ADMIN, HELPED: Role.EDITOR, WATCHED: Role.VIEWER}


def world() -> World:
    """Everything, committed by who calls it."""
    return signed_in(world_without_browsers())


def signed_in(world: World) -> World:
    """The world with a browser for everybody, signed in just now."""
    browsers = {name: _signed_in(person) for name, person in world.people.items()} | {"nobody": Client()}
    return replace(world, browsers=browsers)


def world_without_browsers() -> World:
    """Everything that can be kept in a file, see `built_once`."""
    mixed = _person("mixed")
    teams = {slug: _owned(slug) for slug in (LED, HELPED, WATCHED, FOREIGN)}
    for slug, role in MIXED_ROLES.items():
        membership_set(team=teams[slug].team, user=mixed, role=role)
    people = {
        "mixed": mixed,
        "outsider": teams[FOREIGN].boss,
        "stranger": _person("stranger"),
        "admin": _person("admin", is_admin=True),
    }
    for name, role in (("viewer", Role.VIEWER), ("editor", Role.EDITOR)):
        people[name] = _person(name)
        membership_set(team=teams[LED].team, user=people[name], role=role)
    return World(teams, people, _keys(teams), _ids(mixed, teams[LED]), browsers={})


def _signed_in(person: User) -> Client:
    browser = Client()
    browser.force_login(person)
    return browser


def _person(name: str, *, is_admin: bool = False) -> User:
    return User.objects.create_user(name, name=f"Person {name}", is_admin=is_admin)


def _keys(teams: Mapping[str, Owned]) -> dict[str, Api]:
    """The key of the agent of the team that is led, one with every scope, that of a foreign agent, an admin's."""
    led, foreign = teams[LED].agent, teams[FOREIGN].agent
    return {
        "own key": Api(api_key_create(agent=led, name="own")[1]),
        "writing key": Api(api_key_create(agent=led, name="writing", scopes=ApiKey.Scope.values)[1]),
        "foreign key": Api(api_key_create(agent=foreign, name="foreign")[1]),
        "admin key": Api(api_key_create(agent=None, name="ops")[1]),
    }


def _owned(slug: str) -> Owned:
    """A team with one of everything; an admin of its own; an editor who may be removed."""
    secret = f"Zqx{slug}zqx"
    boss, member = _person(f"boss-{slug}"), _person(f"member-{slug}")
    team = team_create(slug=slug, name=f"{secret} team")
    # So that keys reach what people wrote; what they may not elsewhere is in tests/teams/test_authorship.py.
    Team.objects.filter(pk=team.pk).update(agents_may_change_texts=True)
    membership_set(team=team, user=boss, role=Role.ADMIN)
    membership_set(team=team, user=member, role=Role.VIEWER)
    agent = agent_create(slug=f"{slug}-bot", name=f"{secret} agent", teams=[team], instructions=secret)
    for owner in (agent, team):
        for file in owner.files.all():
            file_save(file=file, content=f"{secret} text", expected_version=file.version, author=SYSTEM.author)
    key, _secret = api_key_create(agent=agent, name=f"{secret} key")
    return Owned(secret, team, agent, boss, member, key, {**_contexts(secret, team, agent), **_of(secret, team, agent)})


def _of(secret: str, team: Team, agent: Agent) -> dict[str, Any]:
    """What the two keep: logs, memories, things, rules, webhooks."""
    log = daily_log_append(agent=agent, date=DAY, text=f"{secret} day", principal=SYSTEM)
    daily_log_replace(log=log, content=f"{secret} night", expected_version=1, principal=SYSTEM)
    rule = rule_create(name=f"rule-of-{team.slug}", content=RULE, owner=team, principal=SYSTEM)
    rule_save(rule=rule, content=OTHER_RULE, enabled=True, expected_version=1, principal=SYSTEM)
    expected = RecallFacts(name=f"{secret} recall", topic="tea", expectations=[Expectation("include", text=secret)])
    recall = recall_test_create(agent=agent, team=team, facts=expected, principal=SYSTEM)
    recall_test_run(test=recall, principal=SYSTEM)
    webhook = Webhook.objects.create(
        team=team,
        label=f"{secret} chat",
        url=PRIVATE_URL,
        events=[WebhookEvent.ALERT_OPENED],
        sealed_secret=encrypt(secret_new()),
    )
    delivery = WebhookDelivery.objects.create(
        webhook=webhook, event=WebhookEvent.ALERT_OPENED, body="{}", attempts=5, fault="No."
    )
    Job.objects.create(kind=DELIVERY, status=JobStatus.PARKED, arguments={"delivery": str(delivery.id)})
    parked = Job.objects.create(agent=agent, kind="split_documents", status=JobStatus.PARKED, steps=1)
    things = things_of(agent)
    for noun, thing in things.items():
        for column in ("title", "name", "goal", "path"):
            if hasattr(thing, column) and noun != "sessions":
                type(thing)._default_manager.filter(pk=thing.pk).update(**{column: f"{secret} {noun}"})
    memories = {
        f"{kind}/{name}": id_
        for kind, owner in (("agents", agent), ("teams", team))
        for name, id_ in _memories(secret, owner).items()
    }
    return {
        **{noun: thing.pk for noun, thing in things.items()},
        **memories,
        **_conflicts(memories),
        "rules": rule.name,
        "recall-tests": recall.id,
        "guards": PublicationGuard.objects.create(
            about=team.files.get(file_key="RULES").about, team=team, set_by=SYSTEM.ref
        ).id,
        "webhooks": webhook.id,
        "deliveries": delivery.id,
        "jobs": parked.id,
    }  # fmt: skip


def _conflicts(memories: dict[str, Any]) -> dict[str, Any]:
    """A conflict that is open, and one on which somebody decided, of a memory of the agent and one of the team."""
    mine, ours, other = (Memory.objects.get(id=memories[name]) for name in ("agents/one", "teams/one", "teams/other"))
    decided = conflict_between(mine, other)
    conflict_resolve(conflict=decided, choice="both", principal=SYSTEM)
    return {"conflicts": conflict_between(mine, ours).id, "decided conflict": decided.id}


def _memories(secret: str, owner: Agent | Team) -> dict[str, Any]:
    """One that holds and has two versions, one retired, two to be merged, one that others were merged into."""
    made = [
        memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=f"{secret} {words}"), principal=SYSTEM)
        for words in ("opens at nine", "was closed", "sells tea", "sells green tea", "has a garden", "has a yard")
    ]
    holds, retired = made[:2]
    for memory, change in ((holds, {"pinned": True}), (retired, {"retired_because": "Sold."})):
        facts = MemoryFacts(kind="fact", text=f"{memory.text} now")
        memory_update(
            memory=memory,
            expected_version=1,
            facts=facts,
            superseded_by=None,
            principal=SYSTEM,
            **change,
        )
    seen = {memory.id: 1 for memory in made[4:]}
    merged = memories_merge(owner=owner, merging=MergeRequest(made[4].id, seen, None), principal=SYSTEM)
    return {
        "memories": holds.id, "retired": retired.id, "one": made[2].id, "other": made[3].id, "merged": merged.id,
        "merged version": merged.version,
    }  # fmt: skip


def _contexts(secret: str, team: Team, agent: Agent) -> dict[str, Any]:
    """A context, another one, and what hangs on it."""
    asked = AssemblyRequest(topic=f"{secret} topic", max_tokens=600)
    first, second = (assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly for _ in range(2))
    proposal, _found = proposal_create(
        assembly=first, wishes=Overrides(max_tokens=500), note=f"{secret} note", principal=SYSTEM
    )
    assembly_flag(assembly=first, note=f"{secret} note", principal=SYSTEM)
    retention_set(team=team, keeping=RetentionRule(300, True), expected_version=0, principal=SYSTEM)
    settled = alert_on(agent, team, thing="agent_file:2", settled=timezone.now(), name=f"{secret} file")
    return {
        "contexts": first.id,
        "assemblies": first.id,
        "other context": second.id,
        "proposals": proposal.id,
        "alerts": alert_on(agent, team, name=f"{secret} file").id,
        "settled alert": settled.id,
        "moment": f"{timezone.now():%Y-%m-%dT%H:%M:%S.%fZ}",
    }


def _correction(subject: Subject, memory: uuid.UUID) -> uuid.UUID:
    """The id of a correction of the subject that corrected the memory."""
    value = {"kind": "other", "wrong": "Mill Lane 3", "right": "Mill Lane 5"}
    made = SubjectCorrection.objects.create(subject=subject, reason="Moved.", requested_by="system", **value)
    version = Memory.objects.get(id=memory).version
    CorrectionResult.objects.create(
        correction=made, ref_kind="memory", thing=memory, status="corrected", version_before=version, version=version
    )
    return made.id


def _erasure() -> SubjectErasure:
    """A finished erasure of somebody who is not known any more."""
    report = {
        "form": 1,
        "places": [{"place": "memories", "treatment": "replaced", "found": 1, "destroyed": 1}],
        "things": {"memories": 1},
        "records": {"pieces": 1, "contexts": 1},
        "search": {"places": 60, "found": 0, "vectors": 1, "found_by_vector": 0},
        "rewritten": {"memories": "written anew"},
        "write_ahead": {"segments": ["000000010000000000000003"], "gone_by": "2026-11-26T12:00:00+00:00", "notes": []},
    }
    return SubjectErasure.objects.create(
        number=1,
        subject_id=uuid.UUID(int=8),
        requested_by="system",
        reason="They asked for it.",
        state="finished",
        report=report,
        sha256=bytes(32),
        completed_at=timezone.now(),
    )


def _ids(mixed: User, led: Owned) -> dict[str, Any]:
    """What is the organisation's, and what is the mixed person's own."""
    retention_set(team=None, keeping=RetentionRule(300, True), expected_version=0, principal=SYSTEM)
    profile = file_create(file=StoredProfile(name="house", content=PROFILE), author=SYSTEM.author)
    file_save(file=profile, content=f"{PROFILE}\n", expected_version=1, author=SYSTEM.author)
    weights = field_values(find_profile("house").weights)
    LearnedWeights.objects.create(
        profile="house", profile_version=2, version=1, state="proposed", own_weights=weights, weights=weights,
        contexts=0, held_out=0, by_ref=SYSTEM.ref,
    )  # fmt: skip
    counts = ("unreadable", "untried", "changed", "items_in", "items_out", "tokens_before", "tokens_after", "better")
    ShadowReport.objects.create(
        profile="house",
        version=1,
        contexts=50,
        measured=50,
        recall_before=0.5,
        recall_after=0.9,
        detail={**dict.fromkeys((*counts, "worse"), 0), "differing": []},
    )
    ExternalSource.objects.create(name="weather", label="Weather", url=PRIVATE_URL, sealed_secret="")
    house_style = organisation_file_create(key="house-style", title="House style", content="Old", principal=SYSTEM)
    file_save(file=house_style, content="Plain words", expected_version=1, author=SYSTEM.author)
    about = led.team.files.get(file_key="GOALS").about
    draft = draft_save(person_id=mixed.id, about=about, content="Half", based_on=2, expected_revision=0)
    listed = context_file_create(parameters={}, kind="csv", principal=mixed.principal)
    alert = Alert.objects.get(id=led.ids["alerts"])
    notification = Notification.objects.create(user=mixed, kind=NotificationKind.ALERT_OPENED, alert=alert)
    subject = subject_create(facts=SubjectFacts("Nobody Inparticular", "customer"), principal=SYSTEM)
    archive = packed({f"teams/{led.team.slug}/GOALS.md": "# Other goals"})
    plan = import_create(archive=archive, file_name="led.zip", principal=mixed.principal)
    return {
        "profiles": "house",
        "organisation": house_style.file_key,
        "external-sources": "weather",
        "drafts": draft.id,
        "draft revision": draft.revision,
        "notifications": notification.id,
        "lists": listed.id,
        "list job": listed.job.id if listed.job else uuid.UUID(int=0),
        "import": plan.id,
        "subjects": subject.id,
        "subject file": subject_file_create(subject=subject, principal=SYSTEM).id,
        "corrections": _correction(subject, led.ids["teams/memories"]),
        "corrected": led.ids["teams/memories"],
        "erasures": _erasure().id,
        "legal-holds": hold_set(kind=HoldKind.AGENT, target=uuid.UUID(int=9), reason="A lawsuit.", principal=SYSTEM).id,
        "people": led.member.id,
        "size": "GOALS",
        "lifecycle report": _lifecycle_report(),
    }


def _lifecycle_report() -> uuid.UUID:
    """A report of a run that left out of search what does not exist any more."""
    now, gone = timezone.now(), f"memory:{uuid.uuid4()}"
    report = LifecycleReport(run=uuid.uuid4(), step="evict", started=now, changed=1, things=[gone])
    report.save(force_insert=True)
    return report.id
