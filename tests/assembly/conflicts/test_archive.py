"""Decisions in archives: after an import, the same two texts are not asked about again."""

import json

import pytest
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.conflicts.services import Choice, EditedSide, conflict_edit, conflict_resolve
from assembly.models import Conflict, ConflictDecision
from memories.archive.sections import scope_of_agent, scope_of_everything, scope_of_team
from memories.archive.services import import_begin, import_create
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.services import erase
from teams.versioned_text.versioned_file import file_save
from tests.archives import packed, texts_in, zipped
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, found_conflict, remember, run_jobs

pytestmark = pytest.mark.django_db


def shown(archive: bytes, principal: Principal = SYSTEM) -> dict[str, str]:
    plan = import_create(archive=archive, file_name="all.zip", principal=principal)
    return {step["name"]: step["state"] for step in plan.steps if step["unit"] == "conflicts"}


def done(archive: bytes, principal: Principal = SYSTEM) -> list[list[str]]:
    plan = import_create(archive=archive, file_name="all.zip", principal=principal)
    finished = import_begin(plan=plan, chosen=(), principal=principal)
    return [left for outcome in finished.outcome.values() for left in outcome["left"]]


def decisions_in(archive: bytes) -> dict[str, bytes]:
    found = {name: text for name, text in texts_in(archive).items() if name.startswith("conflicts/")}
    return {name: text for name, text in found.items() if name != "conflicts/conflicts.json"}


@pytest.fixture
def of_file(agent: Agent, team: Team, editor: User) -> Conflict:
    """A decision on a memory of the agent and a file of its team: the file holds."""
    remember(agent, EIGHTY)
    file_save(file=team.files.get(file_key="GOALS"), content=NINETY, expected_version=1, author=SYSTEM.author)
    run_jobs()
    conflict = Conflict.objects.get()
    choice: Choice = "left" if conflict.left_statement == NINETY else "right"
    return conflict_resolve(conflict=conflict, choice=choice, reason="It is new.", principal=editor.principal)


def test_a_decision_comes_to_another_installation(of_file: Conflict, agent: Agent, team: Team) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    assert shown(archive) == {}
    agent_delete(agent=agent, principal=SYSTEM)
    erase("teams", team.id, SYSTEM)
    assert not Conflict.objects.exists()
    assert set(shown(archive).values()) == {"new"}
    assert done(archive) == []
    for _ in range(2):
        conflict = Conflict.objects.get()
        holds = conflict.left_statement if conflict.resolution == "left" else conflict.right_statement
        assert (conflict.status, holds) == ("resolved", NINETY)
        assert conflict.reason == f"It is new. (Edda Editor decided on {of_file.resolved_at:%Y-%m-%d})"
        run_jobs()  # the detection finds the pair, which is decided
    assert set(shown(archive).values()) == set()
    memory = Memory.objects.get()
    assert (memory.text, memory.retired_because) == (EIGHTY, "Conflict: It is new.")
    assert ConflictDecision.objects.get().effects == []


def test_each_export_has_the_decisions_between_its_own_texts(
    of_file: Conflict, agent: Agent, team: Team, editor: User
) -> None:
    remember(agent, "The café seats 40 guests.")
    remember(agent, "The café seats 25 guests.")
    run_jobs()
    own = Conflict.objects.get(status="open")
    conflict_resolve(conflict=own, choice="both", principal=editor.principal)
    both, mine = f"conflicts/{of_file.id}.json", f"conflicts/{own.id}.json"
    assert set(decisions_in(zipped(scope_of_everything(SYSTEM)))) == {both, mine}
    assert set(decisions_in(zipped(scope_of_agent(agent, SYSTEM)))) == {mine}
    assert decisions_in(zipped(scope_of_team(team, SYSTEM))) == {}


def test_open_and_edited_ones_are_not_exported(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    assert decisions_in(zipped(scope_of_agent(agent, SYSTEM))) == {}
    side: EditedSide = "left" if conflict.left_statement == EIGHTY else "right"
    conflict_edit(conflict=conflict, side=side, text=NINETY, principal=editor.principal)
    assert decisions_in(zipped(scope_of_agent(agent, SYSTEM))) == {}


def test_an_open_conflict_is_decided_by_the_archive_and_a_decision_here_stays(
    agent: Agent, team: Team, editor: User
) -> None:
    conflict = found_conflict(agent, team)
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    files = decisions_in(zipped(scope_of_everything(SYSTEM)))
    Conflict.objects.update(status="open", resolution="", resolved_at=None, resolved_by="", resolver_name="")
    assert done(packed(files), editor.principal) == []
    conflict.refresh_from_db()
    assert (conflict.status, conflict.resolution, conflict.resolver_name) == ("resolved", "both", "Edda Editor")
    assert set(shown(packed(files)).values()) == set()
    Conflict.objects.update(resolution="left")
    assert set(shown(packed(files)).values()) == {"refused"}


def test_the_key_of_an_agent_imports_no_decision(agent: Agent, team: Team, editor: User) -> None:
    conflict = found_conflict(agent, team)
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    files = decisions_in(zipped(scope_of_everything(SYSTEM)))
    row, _key = api_key_create(agent=agent, name="key", scopes=["files:write", "team-files:write"])
    key = Principal(
        kind="agent_key", id=row.id, agent_id=agent.id, team_ids=frozenset({team.id}), scopes=frozenset(row.scopes)
    )
    assert set(shown(packed(files), key).values()) == set(), "it is the same"
    Conflict.objects.update(status="open", resolution="", resolved_at=None, resolved_by="", resolver_name="")
    assert set(shown(packed(files), key).values()) == {"refused"}
    assert Conflict.objects.get().is_open


def test_a_decision_counts_though_detection_no_longer_finds_the_conflict(
    agent: Agent, team: Team, editor: User
) -> None:
    conflict = found_conflict(agent, team)
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    files = decisions_in(zipped(scope_of_everything(SYSTEM)))
    undecided = {"resolution": "", "resolved_at": None, "resolved_by": "", "resolver_name": ""}
    Conflict.objects.update(status="gone", gone_because="not_found", closed=timezone.now(), **undecided)
    assert done(packed(files), editor.principal) == []
    conflict.refresh_from_db()
    assert (conflict.status, conflict.resolution, conflict.gone_because, conflict.closed) == (
        "resolved", "both", "", None,
    )  # fmt: skip


def test_nobody_decides_on_texts_that_they_may_not_change(
    agent: Agent, team: Team, editor: User, teammate: User
) -> None:
    conflict = found_conflict(agent, team)
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    files = decisions_in(zipped(scope_of_everything(SYSTEM)))
    Conflict.objects.update(status="open", resolution="", resolved_at=None, resolved_by="", resolver_name="")
    [[_name, reason]] = done(packed(files), teammate.principal)
    assert "you may not change it" in reason
    assert Conflict.objects.get().is_open


def test_the_plan_does_not_tell_whether_a_text_of_others_is_there(
    of_file: Conflict, agent: Agent, team: Team, teammate: User
) -> None:
    [(name, text)] = decisions_in(zipped(scope_of_everything(SYSTEM))).items()
    guessed = {name: text.decode() if isinstance(text, bytes) else text}
    right = shown(packed(guessed), teammate.principal)
    said = json.loads(guessed[name])
    for side in ("left", "right"):
        said[side]["sha256"] = "0" * 64
    assert shown(packed({name: json.dumps(said)}), teammate.principal) == right == {name: "refused"}


def test_texts_that_no_context_has_together_make_no_conflict(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    [(name, text)] = decisions_in(zipped(scope_of_agent(agent, SYSTEM))).items()
    foreign = agent_create(slug="foreign", name="Foreign", teams=[])
    secret = remember(foreign, EIGHTY)
    said = json.loads(text)
    side = "left" if said["left"]["statement"] == EIGHTY else "right"
    said[side]["item"] = f"memory:{secret.id}"
    [[_name, reason]] = done(packed({name: json.dumps(said)}))
    assert reason.startswith("One of its texts is not here")
    assert Conflict.objects.count() == 1


@pytest.mark.parametrize("text", ["{}", "[", "null", '{"left": 1}', "[" * 40_000])
def test_what_is_no_decision_is_refused(agent: Agent, text: str) -> None:
    name = "conflicts/0195f3a2-7c7e-7000-8000-000000000001.json"
    assert shown(packed({name: text})) == {name: "refused"}
