"""Storage policies over REST: defaults, versions, teams that override, previews, and reports."""

from typing import Any

import pytest

from agents.models import Agent
from memories.lifecycle.hourly_run import lifecycle_run
from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.kv_policy import CONTENT_TYPES, DEFAULT_POLICIES
from memories.models import KVPolicyVersion, LifecycleReport, Memory
from memories.services import MemoryFacts, memories_create
from teams.activity.models import Activity
from teams.models import Team
from teams.principal import SYSTEM
from tests.client import Api

pytestmark = pytest.mark.django_db

ADDRESS = "kv-policies/general"


def changed(**parts: Any) -> dict[str, Any]:
    default = DEFAULT_POLICIES["general"].as_json()
    return {name: {**default[name], **parts.get(name, {})} for name in default}


def test_the_defaults_hold_until_somebody_saves_others(admin_api: Api) -> None:
    found = admin_api.get("kv-policies").json()["results"]
    assert {one["content_type"]: one["policy"] for one in found} == {
        name: DEFAULT_POLICIES[name].as_json() for name in CONTENT_TYPES
    }
    assert {one["version"] for one in found} == {0}


def test_each_save_is_a_version_that_is_logged(admin_api: Api) -> None:
    policy = changed(compress={"age_threshold_hours": 1})
    saved = admin_api.put(ADDRESS, {"policy": policy, "note": "Sooner"}, if_match='"0"')
    assert (saved.status_code, saved.json()["version"], saved.json()["policy"]) == (200, 1, policy)
    assert saved.headers["ETag"] == '"1"'
    again = admin_api.put(ADDRESS, {"policy": None}, if_match='"1"').json()
    assert (again["version"], again["policy"]) == (2, DEFAULT_POLICIES["general"].as_json())
    assert list(KVPolicyVersion.objects.order_by("version").values_list("version", "note")) == [(1, "Sooner"), (2, "")]
    actions = list(Activity.objects.order_by("id").values_list("action", flat=True))
    assert actions[-2:] == ["kv_policy.saved", "kv_policy.reset"]


def test_a_stale_or_missing_version_is_refused(admin_api: Api) -> None:
    assert admin_api.put(ADDRESS, {"policy": None}).status_code == 428
    assert admin_api.put(ADDRESS, {"policy": None}, if_match='"7"').status_code == 412


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        (changed(pin={"ttl_hours": -1}), "pin.ttl_hours"),
        (changed(evict={"lru_weight": "much"}), "evict.lru_weight"),
        ({"pin": {}}, "pin.max_size_mb"),
        ([], "pin"),
        ("*", "pin"),
    ],
)
def test_an_impossible_policy_is_refused_by_its_field(admin_api: Api, policy: Any, field: str) -> None:
    answer = admin_api.put(ADDRESS, {"policy": policy}, if_match='"0"')
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [f"policy.{field}"]
    preview = admin_api.post(f"{ADDRESS}/preview", {"policy": policy})
    assert preview.status_code == (200 if policy == {"pin": {}} else 422)


def test_an_unknown_content_type_is_not_found(admin_api: Api) -> None:
    assert admin_api.get("kv-policies/films").status_code == 404


def test_a_team_overrides_what_the_organisation_saved(admin_api: Api, team: Team) -> None:
    own = changed(compress={"age_threshold_hours": 2})
    admin_api.put(ADDRESS, {"policy": changed(compress={"age_threshold_hours": 1})}, if_match='"0"')
    address = f"teams/{team.slug}/kv-policies/general"
    assert admin_api.get(address).json()["policy"]["compress"]["age_threshold_hours"] == 1
    admin_api.put(address, {"policy": own}, if_match='"0"')
    assert PolicyBook().policy("general", team.id).as_json() == own
    assert PolicyBook().policy("general").compress.age_threshold_hours == 1


def test_a_preview_says_what_the_next_run_would_move_and_moves_nothing(admin_api: Api, agent: Agent) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Tea {number}") for number in range(3)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    policy = {"compress": {"age_threshold_hours": 0}, "evict": {"max_total_size_gb": 0}}
    found = admin_api.post(f"{ADDRESS}/preview", {"policy": policy}).json()
    assert found.pop("is_estimated") is False
    assert found == {"now": {"compressed": 0, "evicted": 0}, "then": {"compressed": 3, "evicted": 3}}
    assert set(Memory.objects.values_list("tier", flat=True)) == {"hot"}
    assert KVPolicyVersion.objects.count() == 0


def test_reports_are_for_admins_of_the_organisation(admin_api: Api, agent_api: Api, agent: Agent) -> None:
    [memory] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text="Tea")], principal=SYSTEM)
    admin_api.put(ADDRESS, {"policy": changed(compress={"age_threshold_hours": 0})}, if_match='"0"')
    run = lifecycle_run()
    [report] = admin_api.get("lifecycle-reports").json()["results"]
    assert (report["run"], report["step"], report["things"]) == (str(run.id), "compress", [f"memory:{memory.id}"])
    assert agent_api.get("lifecycle-reports").status_code == 403


def test_the_versions_of_a_policy_are_listed(admin_api: Api, team: Team) -> None:
    policy = changed(compress={"age_threshold_hours": 1})
    admin_api.put(ADDRESS, {"policy": policy, "note": "Sooner"}, if_match='"0"')
    admin_api.put(ADDRESS, {"policy": None}, if_match='"1"')
    found = admin_api.get(f"{ADDRESS}/versions").json()["results"]
    assert [(one["version"], one["policy"], one["note"]) for one in found] == [(2, None, ""), (1, policy, "Sooner")]
    assert admin_api.get(f"teams/{team.slug}/{ADDRESS}/versions").json()["results"] == []
    assert admin_api.get("kv-policies/films/versions").status_code == 404


def test_what_a_report_names_is_undone_in_the_background(admin_api: Api, agent_api: Api, agent: Agent) -> None:
    memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text="Tea")], principal=SYSTEM)
    admin_api.put(ADDRESS, {"policy": changed(evict={"max_total_size_gb": 0})}, if_match='"0"')
    run = lifecycle_run()
    report = LifecycleReport.objects.get(run=run.id, step="evict")
    address = f"lifecycle-reports/{report.id}/undo"
    assert agent_api.post(address).status_code == 403
    started = admin_api.post(address)
    assert (started.status_code, started.json()["kind"]) == (202, "undo_lifecycle")
    assert admin_api.post(address).status_code == 409
    assert admin_api.post(f"lifecycle-reports/{agent.id}/undo").status_code == 404
