"""Services that write: each is called only behind the function that says who may, or refuses by itself.

Which services there are follows from the routes: whatever a page or an endpoint calls that writes is in a table here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from agents.services import agent_delete, agent_update
from assembly.models import Assembly, Proposal
from assembly.monitoring.webhooks.services import WebhookFacts, webhook_create
from assembly.records.retention_policies import (
    RetentionRule,
    assembly_flag,
    assembly_unflag,
    retention_clear,
    retention_set,
)
from assembly.simulation.proposals.services import proposal_create, proposal_decide, proposal_delete
from assembly.simulation.simulate import Overrides
from config.http.errors import Forbidden, NotFound
from memories.archive.services import import_begin, import_create
from teams.principal import Principal
from tests.archives import packed
from tests.rights.calls import calls_of, modules, view_of
from tests.rights.needs import MAY, VISITS
from tests.rights.routes import all_routes
from tests.rights.world import LED, PUBLIC_URL, Owned, World

pytestmark = [pytest.mark.finding("1w"), pytest.mark.django_db]

ACCESS = frozenset({
    "team_for", "agent_for", "organisation_file_for",
    "conflict_for", "conflict_to_resolve",
    "memory_for", "assembly_for", "rule_for", "rule_owner_for", "proposal_for", "webhook_for",
    "recall_test_for", "recall_owners_for", "find_guarded_text", "find_named_text",
    "delivery_for", "alert_for", "alert_to_resolve", "external_source_for", "job_for", "import_for", "context_file_for",
    "require_admin", "require_manager", "manages_all_teams", "key_in_team",
    "subject_for", "subject_file_for", "hold_for", "correction_for",
    "find",  # `agent_for` or `team_for`, as the route says
    "_own_draft",  # the drafts of the person who asks
})  # fmt: skip
"""The functions that say who may."""

# By the access function that every page and endpoint calls before: these trust their caller.
GUARDED: Mapping[str, str] = {
    service: guard
    for guard, services in {
        "agent_for": """daily_log_append daily_log_create daily_log_delete daily_log_replace agent_files_ensure
            agent_items_create agent_item_update agent_item_delete thread_update task_push task_pop
    agent_update agent_delete
            events_create document_update documents_create""",
        "agent_for team_for find": "memories_create memories_merge memory_create memory_supersede",
        "agent_for team_for find organisation_file_for": "file_save",
        "agent_for team_for organisation_file_for": "preview_drafts preview_drafts_by_agent",
        "organisation_file_for": "organisation_file_rename organisation_file_delete",
        "agent_for assembly_for": "assemble_as_of assembly_append",
        "agent_for require_admin": "api_key_create api_key_revoke",
        "memory_for": "memories_unmerge",
        "agent_for find memory_for": "thing_opened",
        "memory_for find": "memory_update memory_delete",
        "team_for": "team_update team_delete membership_set membership_remove key_grant key_withdraw",
        "team_for require_admin": "retention_set retention_clear kv_policy_save",
        "require_admin": """team_create agent_create person_create person_update person_password_renew person_sign_out
            organisation_file_create subject_create
            second_factor_remove failures_retry profile_create profile_save profile_delete external_source_create
            lifecycle_undo tuning_switch tuning_reset learned_weights_switch learning_job_create""",
        "external_source_for": "external_source_update external_source_delete",
        "assembly_for": """feedback_create record_bundle_download assembly_flag assembly_unflag rerun_today run_what_if
            proposal_create recall_test_from_context""",
        "recall_test_for": "recall_test_save recall_test_archive recall_test_delete recall_test_run",
        "recall_owners_for": "recall_test_create",
        "find_guarded_text find_named_text": "publication_guard_set",
        "require_admin find_named_text": "try_profile",
        "proposal_for": "proposal_rerun proposal_decide proposal_delete",
        "alert_to_resolve": "alert_acknowledge alert_resolve alert_reopen",
        "rule_for": "rule_save rule_delete",
        "rule_owner_for": "rule_create",
        "rule_for rule_owner_for tried_rule": "try_rule",
        "subject_for": """subject_update subject_delete mentions_decide subject_restrict subject_scan_create
            subject_file_create erasure_plan erasure_request correction_create""",
        "subject_for correction_for": "correction_undo",
        "subject_for require_admin": "hold_set",
        "subject_for hold_for require_admin": "hold_lift",
        "context_file_for": "export_file_response",
        "subject_file_for": "note_download",
        "webhook_for": "webhook_update webhook_delete webhook_secret_change webhook_test",
        "delivery_for": "delivery_resend",
        "job_for": "job_retry",
        "import_for": "import_begin",
        "_own_draft": "draft_discard",
        "_own_draft find_named_text": "try_draft",
    }.items()
    for service in services.split()
}
THEMSELVES = {
    "webhook_create": "asks `team_to_tell` whose events it may be told",
    "import_create": "plans with the rights of who sends the archive, and refuses who may write nothing",
    "limits_set": "asks `require_limit_setter` who may set those of the subject",
    "zip_download": "writes what its scope holds, which is made for who exports",
    "level_set": "asks `require_level` who may set which level",
    "memory_level_set": "asks `require_level`, too",
    "record_level": "records a change that its caller made with the rights of the principal",
    "log_file": "takes lines that were found for who asks",
    "list_response": "takes contexts that were found for who asks",
    "export_record": "records what its caller found with the rights of the principal",
    "context_file_create": "the list holds what its requester sees",
    "conflict_edit": "asks `require_resolvable` who may change both sides",
    "conflict_resolve": "asks `require_resolvable` who may change both sides",
    "conflict_undo": "asks `require_resolvable` who may change both sides",
    "recount_open_conflicts": "counts what the person may decide",
    "recount_unread": "counts the person's own notifications",
    "notification_read": "marks one that is the person's own",
    "notifications_read_all": "marks the person's own notifications",
    "session_end": "takes the person's own sessions alone",
    "other_sessions_end": "takes the person's own sessions alone",
}
"""These check by themselves, or are about nobody but the person who asks."""


def services_called() -> Iterator[tuple[str, str, list[str], str]]:
    """Route, method, the access functions called until then, and the service."""
    for route, pattern in all_routes().items():
        module, view, methods = view_of(pattern.callback)
        if module not in modules():
            continue  # of a library
        for method in methods or ("",):
            guards: list[str] = []
            for called in calls_of(module, view, method, ACCESS):
                if called.is_access:
                    guards.append(called.name)
                else:
                    yield route, method, list(guards), called.name


def test_every_service_that_a_route_calls_is_in_a_table() -> None:
    called = {service for _route, _method, _guards, service in services_called()}
    assert called <= set(GUARDED) | set(THEMSELVES)
    assert len(called) > 50, "the reading of views has gone blind"


def test_every_caller_asks_first_who_may() -> None:
    unguarded = [
        f"{method or 'page'} {route}: {service} without {GUARDED[service]}"
        for route, method, guards, service in services_called()
        if service in GUARDED and not set(GUARDED[service].split()) & set(guards)
    ]
    assert unguarded == []


def _assembly(owned: Owned) -> Assembly:
    return Assembly.objects.get(id=owned.ids["other context"])


def _proposal(owned: Owned) -> Proposal:
    return Proposal.objects.get(id=owned.ids["proposals"])


def _moved(owned: Owned, principal: Principal) -> object:
    facts: dict[str, Any] = {"name": owned.agent.name, "timezone": "UTC", "teams": []}
    return agent_update(agent=owned.agent, expected_version=1, **facts, principal=principal)


def _webhook(owned: Owned, principal: Principal) -> object:
    facts = WebhookFacts("New", PUBLIC_URL, ("alert.opened",))
    return webhook_create(facts=facts, team=owned.team.slug, principal=principal)


# What each service that takes a principal needs, and the call.
REFUSING: Mapping[str, tuple[str, Callable[[Owned, Principal], object]]] = {
    "webhook_create": ("manage", _webhook),
    "assembly_flag": (
        "write", lambda owned, principal: assembly_flag(assembly=_assembly(owned), principal=principal),
    ),
    "assembly_unflag": (
        "write", lambda owned, principal: assembly_unflag(assembly=_assembly(owned), principal=principal),
    ),
    "retention_set": (
        "manage",
        lambda owned, principal: retention_set(
            team=owned.team, keeping=RetentionRule(9), expected_version=1, principal=principal
        ),
    ),
    "retention_clear": (
        "manage", lambda owned, principal: retention_clear(team=owned.team, expected_version=1, principal=principal),
    ),
    "retention_set for all": (
        "organisation",
        lambda _owned, principal: retention_set(
            team=None, keeping=RetentionRule(9), expected_version=1, principal=principal
        ),
    ),
    "proposal_create": (
        "write",
        lambda owned, principal: proposal_create(
            assembly=_assembly(owned), wishes=Overrides(max_tokens=300), note="", principal=principal
        ),
    ),
    "proposal_decide": (
        "manage",
        lambda owned, principal: proposal_decide(
            proposal=_proposal(owned), status=Proposal.Status.ACCEPTED, principal=principal
        ),
    ),
    "proposal_delete": (
        "manage", lambda owned, principal: proposal_delete(proposal=_proposal(owned), principal=principal),
    ),
    "agent_update, the teams": ("manage", _moved),
    "agent_delete": ("manage", lambda owned, principal: agent_delete(agent=owned.agent, principal=principal)),
}  # fmt: skip


@pytest.mark.parametrize(("who", "slug", "standing"), [visit for visit in VISITS if visit[0] != "nobody"])
@pytest.mark.parametrize("service", REFUSING)
def test_a_service_that_takes_a_principal_refuses_the_wrong_ones(
    service: str, who: str, slug: str, standing: Any, world: World
) -> None:
    need, call = REFUSING[service]
    owned, principal = world.teams[slug], world.people[who].principal
    if need in MAY[standing]:
        call(owned, principal)
    else:
        with pytest.raises((Forbidden, NotFound)):
            call(owned, principal)


def test_an_import_does_what_its_principal_may(world: World) -> None:
    """One archive for all teams: it is stored where the mixed person edits, and nowhere else."""
    archive = packed({f"teams/{slug}/GOALS.md": "Taken over" for slug in world.teams})
    mixed = world.people["mixed"].principal
    import_begin(plan=import_create(archive=archive, file_name="x", principal=mixed), chosen=(), principal=mixed)
    taken = {
        slug for slug, owned in world.teams.items() if owned.team.files.get(file_key="GOALS").content == "Taken over"
    }
    assert taken == {LED, "helped"}
