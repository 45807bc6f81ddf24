"""What importing would do, as it is shown: nothing is written by it, and what is done later is what was shown."""

from typing import Any

import pytest

from agents.models import Agent, AgentFile, DailyLog
from config.http.errors import Conflict, NotFound
from memories.archive.memory_markdown import format_memory
from memories.archive.plan import CHANGED_SINCE
from memories.archive.sections import scope_of_agent
from memories.archive.services import MAX_STEPS_IN_REQUEST, RETENTION, import_begin, import_create, import_for
from memories.imports.base import ImportRefused
from memories.models import ImportPlan, ImportStatus, Job, Memory, MemoryVersion
from memories.services import MemoryFacts, memory_update
from teams.models import Team, User
from teams.principal import SYSTEM, Principal, Role
from teams.services import membership_set, team_create
from teams.versioned_text.versioned_file import file_save
from tests.archives import edited, packed, texts_in, zipped

pytestmark = pytest.mark.django_db


def shown(archive: bytes, principal: Principal = SYSTEM) -> ImportPlan:
    return import_create(archive=archive, file_name="notes.zip", principal=principal)


def states(plan: ImportPlan) -> dict[str, str]:
    return {step["name"]: step["state"] for step in plan.steps}


def done(plan: ImportPlan, *chosen: str, principal: Principal = SYSTEM) -> list[Any]:
    """What was left, by unit."""
    finished = import_begin(plan=plan, chosen=chosen, principal=principal)
    return [left for outcome in finished.outcome.values() for left in outcome["left"]]


def identity(agent: Agent) -> AgentFile:
    return agent.files.get(file_key="IDENTITY")


def write(file: Any, text: str) -> None:
    file_save(file=file, content=text, expected_version=file.version, author=SYSTEM.author)


def test_a_new_file_and_a_changed_log_and_what_stays(agent: Agent) -> None:
    archive = edited(zipped(scope_of_agent(agent, SYSTEM)), "agents/ada/IDENTITY.md", lambda _: "I am Ada.\n")
    archive = edited(archive, "agents/ada/memory/2026-03-02.md", lambda _: "Rain.")
    plan = shown(archive)
    assert states(plan) == {"agents/ada/IDENTITY.md": "new", "agents/ada/memory/2026-03-02.md": "changed"}
    assert plan.steps[0]["lines"] == [["+", "I am Ada."]]
    assert identity(agent).content == ""  # nothing is written yet
    assert done(plan) == []
    assert identity(agent).content == "I am Ada.\n"
    assert identity(agent).versions.get(version=2).note == "Imported from notes.zip"
    assert DailyLog.objects.get(content="Rain.").version == 2


def test_what_is_missing_in_the_archive_stays(agent: Agent) -> None:
    texts = texts_in(zipped(scope_of_agent(agent, SYSTEM)))
    only = {"agents/ada/IDENTITY.md": "x", "agents/ada/MEMORY.md": "# Memories\n"}
    before = (DailyLog.objects.count(), Memory.objects.count())
    assert done(shown(packed(only))) == []
    assert (DailyLog.objects.count(), Memory.objects.count()) == before
    assert len(texts) > len(only)


def test_what_was_changed_here_since_the_export_stays_unless_chosen(agent: Agent) -> None:
    write(identity(agent), "As exported")
    archive = zipped(scope_of_agent(agent, SYSTEM))
    write(identity(agent), "Newer here")
    name = "agents/ada/IDENTITY.md"
    assert states(shown(archive)) == {name: "newer"}
    both = shown(edited(archive, name, lambda _: "Changed there, too"))
    assert states(both) == {name: "both"}
    assert done(both) == []
    assert identity(agent).content == "Newer here"
    assert done(shown(archive), name) == []
    assert identity(agent).content == "As exported"
    assert identity(agent).version == 4


def test_without_marks_the_archive_counts(agent: Agent) -> None:
    write(identity(agent), "Here")
    assert states(shown(packed({"agents/ada/IDENTITY.md": "There"}))) == {"agents/ada/IDENTITY.md": "changed"}


def test_what_changed_after_somebody_looked_is_told_and_not_overwritten(agent: Agent) -> None:
    plan = shown(packed({"agents/ada/IDENTITY.md": "There", "agents/ada/KNOWLEDGE.md": "Known"}))
    write(identity(agent), "Meanwhile")
    assert done(plan) == [["agents/ada/IDENTITY.md", CHANGED_SINCE]]
    assert identity(agent).content == "Meanwhile"
    assert agent.files.get(file_key="KNOWLEDGE").content == "Known"


def test_memories_are_added_changed_and_superseded(agent: Agent) -> None:
    bullet = "\n- [fact] Added by hand.\n"
    archive = edited(
        zipped(scope_of_agent(agent, SYSTEM)),
        "agents/ada/MEMORY.md",
        lambda text: text.replace("Ship on Tuesdays.", "Ship on Wednesdays.") + bullet,
    )
    plan = shown(archive)
    assert sorted(states(plan).values()) == ["changed", "new"]
    assert done(plan) == []
    changed = Memory.objects.get(agent=agent, text="Ship on Wednesdays.")
    assert changed.superseded_by is not None  # as before
    assert MemoryVersion.objects.filter(file=changed).count() == 3
    assert MemoryVersion.objects.get(content="Added by hand.").note == "Imported from notes.zip"
    again = edited(archive, "agents/ada/MEMORY.md", str)
    assert states(shown(again)) == {}


def test_memories_changed_on_both_sides_stay(agent: Agent) -> None:
    memory = Memory.objects.get(agent=agent, text="When it rains", occurred_at=None)
    archive = zipped(scope_of_agent(agent, SYSTEM))
    facts = MemoryFacts(kind="learning", text="When it pours")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    assert states(shown(archive)) == {f"agents/ada/MEMORY.md/{memory.id}": "newer"}


def test_a_bullet_that_was_copied_with_its_comment_is_told(agent: Agent) -> None:
    memory = Memory.objects.filter(agent=agent, superseded_by=None).earliest("id")
    copied = "\n" + format_memory(memory).replace(memory.text.split("\n")[0], "Something new")
    archive = edited(zipped(scope_of_agent(agent, SYSTEM)), "agents/ada/MEMORY.md", lambda text: text + copied)
    [step] = shown(archive).steps
    assert step["state"] == "refused"
    assert "names a memory that is further up. Remove the comment" in step["reason"]


def test_bullets_without_their_comments_are_the_same_memories(agent: Agent) -> None:
    plan = shown(packed({"agents/ada/MEMORY.md": "- [decision] Ship on Tuesdays.\n- [learning] When it rains\n"}))
    assert (plan.steps, plan.same) == ([], 2)


def test_an_agent_under_another_name_gets_memories_of_its_own(agent: Agent) -> None:
    texts = texts_in(zipped(scope_of_agent(agent, SYSTEM)))
    copy = packed({name.replace("agents/ada/", "agents/eve/"): text for name, text in texts.items()})
    assert done(shown(copy)) == []
    eve = Agent.objects.get(slug="eve")
    assert eve.memories.count() == agent.memories.count()
    assert not set(eve.memories.values_list("id", flat=True)) & set(agent.memories.values_list("id", flat=True))
    superseded = eve.memories.get(superseded_by__isnull=False)
    assert superseded.superseded_by is not None
    assert superseded.superseded_by.agent == eve
    assert states(shown(copy)) == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('<!-- {"id":"x"} -->\n- [fact] a', "line 2: the comment above it names no id"),
        ('<!-- {"salience":2} -->\n- [fact] a', "less than or equal to 1.0"),
        ('<!-- {"salience":"1"} -->\n- [fact] a', "of the wrong kind"),
        ('<!-- {"salience":true} -->\n- [fact] a', "of the wrong kind"),
        ('<!-- {"occurred_at":"soon"} -->\n- [fact] a', "Use a moment like"),
        ('<!-- {"secret":1} -->\n- [fact] a', "says “secret”. Known are:"),
        ('<!-- {"external_id":"%s"} -->\n- [fact] a' % ("x" * 201), "at most 200 characters"),
        ("- [Großes Wort] a", "cannot be a kind"),
    ],
)
def test_a_memory_that_cannot_be_kept_is_told(agent: Agent, line: str, message: str) -> None:
    [step] = shown(packed({"agents/ada/MEMORY.md": line})).steps
    assert step["state"] == "refused"
    assert message in step["reason"]


def test_memories_that_supersede_each_other_in_a_circle_are_refused(agent: Agent) -> None:
    ids = [f"01900000-0000-7000-8000-00000000000{number}" for number in (1, 2)]
    lines = [
        f'<!-- {{"id":"{one}","superseded_by":"{other}"}} -->\n- [fact] {one}' for one, other in (ids, reversed(ids))
    ]
    before = Memory.objects.count()
    [[name, reason]] = done(shown(packed({"agents/ada/MEMORY.md": "\n".join(lines)})))
    assert name == "agents/ada/MEMORY.md"
    assert "in a circle" in reason
    assert Memory.objects.count() == before


def test_files_that_cannot_be_read_are_told_and_the_others_are_not_kept_waiting(agent: Agent) -> None:
    plan = shown(
        packed({"agents/ada/IDENTITY.md": b"\xff", "agents/ada/agent.json": "{", "agents/ada/KNOWLEDGE.md": "k"})
    )
    assert sorted(states(plan).items()) == [
        ("agents/ada/IDENTITY.md", "refused"),
        ("agents/ada/KNOWLEDGE.md", "new"),
        ("agents/ada/agent.json", "refused"),
    ]
    assert done(plan) == []
    assert agent.files.get(file_key="KNOWLEDGE").content == "k"


def test_settings_are_taken_over_and_an_agent_leaves_no_team(agent: Agent) -> None:
    settings = '{"name": "Countess", "timezone": "Asia/Tokyo", "teams": ["nowhere"]}'
    assert done(shown(packed({"agents/ada/agent.json": settings}))) == []
    agent.refresh_from_db()
    assert (agent.name, agent.timezone) == ("Countess", "Asia/Tokyo")
    assert agent.teams.get().slug == "care"


class TestRights:
    @pytest.fixture
    def people(self, team: Team) -> dict[str, Principal]:
        roles = {"owner": Role.ADMIN, "editor": Role.EDITOR, "viewer": Role.VIEWER, "stranger": None}
        other = team_create(slug="other", name="Other")
        made = {name: User.objects.create_user(name) for name in roles}
        for name, role in roles.items():
            membership_set(team=team if role else other, user=made[name], role=role or Role.ADMIN)
        return {name: user.principal for name, user in made.items()}

    def test_who_may_not_see_is_told_the_same_as_of_nothing(self, agent: Agent, people: dict[str, Principal]) -> None:
        plan = shown(packed({"agents/ada/IDENTITY.md": "x", "agents/nobody/IDENTITY.md": "x"}), people["stranger"])
        ada, nobody = plan.steps
        assert ada["reason"].replace("ada", "nobody") == nobody["reason"]
        assert ada["state"] == "refused"
        assert done(plan, "agents/ada", principal=people["stranger"]) == []
        assert identity(agent).content == ""

    def test_who_may_only_read_changes_nothing(self, agent: Agent, people: dict[str, Principal]) -> None:
        texts = {
            "agents/ada/IDENTITY.md": "x",
            "agents/ada/MEMORY.md": "- [a] b",
            "agents/ada/memory/2026-03-02.md": "c",
        }
        assert set(states(shown(packed(texts), people["viewer"])).values()) == {"refused"}

    def test_an_editor_changes_texts_and_no_settings(self, agent: Agent, people: dict[str, Principal]) -> None:
        plan = shown(
            packed({"agents/ada/IDENTITY.md": "x", "agents/ada/agent.json": '{"name": "B"}'}), people["editor"]
        )
        assert states(plan) == {"agents/ada/IDENTITY.md": "new", "agents/ada/agent.json": "refused"}

    def test_rights_that_are_lost_meanwhile_count(self, agent: Agent, team: Team, people: dict[str, Principal]) -> None:
        plan = shown(packed({"agents/ada/IDENTITY.md": "x"}), people["editor"])
        membership_set(team=team, user=User.objects.get(username="editor"), role=Role.VIEWER)
        begun = import_begin(plan=plan, chosen=(), principal=people["editor"])
        [step] = begun.steps  # computed again, because a viewer reads less
        assert (step["name"], step["state"], "not change it" in step["reason"]) == (
            "agents/ada/IDENTITY.md", "refused", True,
        )  # fmt: skip
        assert identity(agent).content == ""

    def test_an_import_is_its_own_persons(self, agent: Agent, people: dict[str, Principal]) -> None:
        plan = shown(packed({"agents/ada/IDENTITY.md": "x"}), people["editor"])
        with pytest.raises(NotFound):
            import_for(people["owner"], plan.id)

    def test_nobody_but_admins_makes_agents(self, agent: Agent, people: dict[str, Principal]) -> None:
        assert states(shown(packed({"agents/new-one/IDENTITY.md": "x"}), people["owner"])) == {
            "agents/new-one": "refused"
        }

    def test_an_export_names_only_teams_that_one_sees(self, agent: Agent, people: dict[str, Principal]) -> None:
        agent.teams.add(Team.objects.create(slug="hidden", name="Hidden"))
        exported = texts_in(zipped(scope_of_agent(agent, people["viewer"])))["agents/ada/agent.json"]
        assert b"hidden" not in exported
        assert states(shown(zipped(scope_of_agent(agent, people["owner"])), people["owner"])) == {}


def test_an_import_is_done_once(agent: Agent) -> None:
    plan = shown(packed({"agents/ada/IDENTITY.md": "x"}))
    done(plan)
    with pytest.raises(Conflict):
        done(plan)


def test_an_import_is_forgotten_after_a_day(agent: Agent) -> None:
    plan = shown(packed({"agents/ada/IDENTITY.md": "x"}))
    ImportPlan.objects.update(created=plan.created - RETENTION)
    with pytest.raises(NotFound):
        import_for(SYSTEM, plan.id)
    shown(packed({"agents/ada/IDENTITY.md": "x"}))
    assert ImportPlan.objects.count() == 1


def test_a_large_import_is_a_job(agent: Agent) -> None:
    lines = "\n".join(f"- [fact] number {number}" for number in range(MAX_STEPS_IN_REQUEST + 1))
    begun = import_begin(plan=shown(packed({"agents/ada/MEMORY.md": lines})), chosen=(), principal=SYSTEM)
    assert begun.status == ImportStatus.RUNNING
    assert begun.job is not None
    assert begun.job.steps == MAX_STEPS_IN_REQUEST + 1
    before = Memory.objects.count()
    told: list[int] = []
    from memories.archive.services import import_in_background

    for _ in range(2):  # a job may be done twice
        import_in_background(Job.objects.get(id=begun.job.id), told.append)
    assert Memory.objects.count() == before + MAX_STEPS_IN_REQUEST + 1
    assert sum(told) == MAX_STEPS_IN_REQUEST + 1
    finished = ImportPlan.objects.get()
    assert (finished.status, bytes(finished.archive)) == (ImportStatus.DONE, b"")


@pytest.mark.parametrize("names", [["README.md"], ["agents/ada/notes.txt"], ["agents/README.md"], ["IDENTITY.md"]])
def test_an_archive_with_nothing_known_is_refused(agent: Agent, names: list[str]) -> None:
    with pytest.raises(ImportRefused, match="nothing in it that Dossier knows"):
        shown(packed(dict.fromkeys(names, "x")))
