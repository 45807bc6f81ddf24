"""Archives that people send are bounded: in owners, in memories, in what they unpack to, and in what reading costs."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, AgentFile, DailyLog
from agents.quotas.models import QuotaLimit
from agents.quotas.uses import UseCounter, today, uses
from agents.services import agent_create
from config.http.errors import Conflict, Forbidden, TooManyRequests
from memories.archive import services
from memories.archive.services import MAX_WAITING_PLANS, import_begin, import_create, import_plan_in_background
from memories.imports.base import ImportRefused
from memories.jobs.services import KINDS
from memories.models import ImportPlan, ImportStatus, Job, Memory
from teams.models import Team, User
from teams.principal import SYSTEM, Principal, Role
from teams.services import membership_set
from tests.archives import packed
from tests.costly_inputs import archive_of_logs, archive_of_memories, archive_of_owners, zipped

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(team: Team) -> Principal:
    user = User.objects.create_user("editor")
    membership_set(team=team, user=user, role=Role.EDITOR)
    return user.principal


def shown(archive: bytes, principal: Principal = SYSTEM, **options: bool) -> ImportPlan:
    return import_create(archive=archive, file_name="notes.zip", principal=principal, **options)


def queries_for(count: int, team: Team, principal: Principal) -> int:
    agents = [agent_create(slug=f"n{count}-{number}", name="N", teams=[team]) for number in range(count)]
    texts: dict[str, Any] = {f"agents/{agent.slug}/IDENTITY.md": f"I am {agent.slug}." for agent in agents}
    texts |= {f"agents/{agent.slug}/agent.json": '{"name": "M", "teams": ["care"]}' for agent in agents}
    texts |= {f"agents/unknown{number}/IDENTITY.md": "x" for number in range(count)}
    with CaptureQueriesContext(connection) as queries:
        plan = shown(packed(texts), principal)
    assert len(plan.steps) >= 3 * count
    return len(queries)


@pytest.mark.finding("5.5a")
@pytest.mark.parametrize("who", ["admin", "editor"])
def test_owners_are_looked_up_at_once(who: str, team: Team, editor: Principal) -> None:
    principal = editor if who == "editor" else SYSTEM
    few, many = queries_for(2, team, principal), queries_for(60, team, principal)
    assert few == many <= 18  # two of them read the limits and uses of the day


@pytest.mark.finding("5.5a")
def test_many_owners_are_refused(editor: Principal) -> None:
    with pytest.raises(ImportRefused, match="It has 19,000 agents and teams; the maximum is 500"):
        shown(archive_of_owners(), editor)
    assert not ImportPlan.objects.exists()


@pytest.mark.finding("5.5a")
def test_many_profiles_are_refused() -> None:
    with pytest.raises(ImportRefused, match="There are 501 files in “profiles”"):
        shown(packed({f"profiles/p{number}.yaml": "x" for number in range(501)}))


@pytest.mark.finding("5.5a")
def test_who_is_in_no_team_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "read_zip", None)
    with pytest.raises(
        Forbidden,
        match="You are in no team, so there is nothing to import into",
    ):
        shown(b"no zip", User.objects.create_user("nobody").principal)


@pytest.mark.deep
@pytest.mark.finding("5.5a")
def test_many_memories_are_read_and_stored_in_the_background(agent: Agent, editor: Principal) -> None:
    plan = shown(archive_of_memories("ada"), editor)
    assert (plan.status, plan.steps) == (ImportStatus.PLANNING, [])
    assert plan.job is not None
    with pytest.raises(Conflict, match="still being read"):
        import_begin(plan=plan, chosen=(), principal=editor)
    for _ in range(2):  # a job may be done twice
        import_plan_in_background(plan.job, lambda _steps: None)
    plan = ImportPlan.objects.get()
    assert (plan.status, len(plan.steps)) == (ImportStatus.SHOWN, 35_000)


@pytest.mark.finding("5.5a")
def test_what_is_to_be_done_at_once_is_begun_by_the_job_that_reads_it(
    agent: Agent, editor: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "READING_CPU_SECONDS", 0)
    plan = shown(packed({"agents/ada/MEMORY.md": "- [fact] new"}), editor, begin=True)
    before = Memory.objects.count()
    while (job := Job.objects.filter(status="queued").order_by("created").first()) is not None:
        KINDS[job.kind](job, lambda _steps: None)
        Job.objects.filter(id=job.id).update(status="done")
    plan.refresh_from_db()
    assert (plan.status, Memory.objects.count()) == (ImportStatus.DONE, before + 1)
    kinds = Job.objects.exclude(kind="split_files").order_by("created").values_list("kind", flat=True)
    assert list(kinds) == ["plan_import", "import_archive"]


@pytest.mark.finding("5.5a")
def test_more_memories_than_one_import_holds_are_refused(agent: Agent) -> None:
    texts = {f"agents/{slug}/MEMORY.md": "- [f] x\n" * 25_001 for slug in ("ada", "bob")}
    with pytest.raises(ImportRefused, match="more than 50,000 memories"):
        shown(zipped(texts))


@pytest.mark.finding("5.5b")
def test_what_unpacks_to_many_times_its_size_is_refused(agent: Agent, editor: Principal) -> None:
    archive = archive_of_logs("ada")
    assert len(archive) < 400_000
    with pytest.raises(ImportRefused, match="Unpacked, it would have 190 MB; the maximum is 50 MB"):
        shown(archive, editor)
    with pytest.raises(ImportRefused, match="times as large as the zip"):
        shown(archive_of_logs("ada", count=40), editor)
    assert not ImportPlan.objects.exists()


@pytest.mark.finding("5.5b")
def test_an_import_counts_as_texts_of_the_day(agent: Agent, editor: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    QuotaLimit.objects.create(subject=editor.ref, by_organisation=True, text_bytes_per_day=50_000)
    archive = zipped({"agents/ada/IDENTITY.md": "The same line again.\n" * 1_000})
    assert len(archive) < 1_000
    for number in range(2):
        import_begin(plan=shown(archive, editor), chosen=(), principal=editor)
        assert uses.stored_today(editor.ref)[0] == (number + 1) * (21_000 - len(archive)), "the request counts the rest"
    with pytest.raises(TooManyRequests, match=r"This request stores 0\.0 MB of text\.") as caught:
        shown(archive, editor)
    assert caught.value.extra["violated-policies"] == ["text-bytes-per-day"]
    assert shown(archive).status == ImportStatus.SHOWN, "others are not held up"
    assert ImportPlan.objects.filter(requested_by=editor.ref).count() == 2
    tomorrow = today() + timedelta(days=1)
    monkeypatch.setattr("agents.quotas.uses.today", lambda: tomorrow)
    assert shown(archive, editor).status == ImportStatus.SHOWN


def test_what_other_processes_counted_is_read_before_an_import(agent: Agent, editor: Principal) -> None:
    QuotaLimit.objects.create(subject=editor.ref, by_organisation=True, text_bytes_per_day=1_000)
    other = UseCounter()
    other.add([editor.ref], text_bytes=950)
    other.flush()
    with pytest.raises(TooManyRequests):
        shown(packed({"agents/ada/IDENTITY.md": "x" * 100}), editor)


@pytest.mark.finding("5.5b")
def test_imports_that_nobody_begins_do_not_pile_up(agent: Agent, editor: Principal) -> None:
    for number in range(MAX_WAITING_PLANS + 2):
        shown(packed({"agents/ada/IDENTITY.md": f"number {number}"}), editor)
    kept = ImportPlan.objects.exclude(archive=b"")
    assert kept.count() == MAX_WAITING_PLANS
    forgotten = ImportPlan.objects.order_by("created")[0]
    assert (forgotten.status, forgotten.steps) == (ImportStatus.REFUSED, [])
    assert "so this one was forgotten" in forgotten.refusal


@pytest.mark.finding("5.5b")
def test_long_texts_are_stored_in_the_background(agent: Agent, editor: Principal) -> None:
    text = "".join(f"line {number}\n" for number in range(60_000))
    days = {f"agents/ada/memory/2026-04-0{day}.md": text for day in (1, 2)}
    plan = shown(zipped(days), editor, begin=True)
    assert plan.status == ImportStatus.RUNNING
    assert DailyLog.objects.filter(date__month=4).count() == 0
    assert plan.job is not None
    KINDS[plan.job.kind](plan.job, lambda _steps: None)
    assert DailyLog.objects.filter(date__month=4).count() == 2


@pytest.mark.finding("5.5a")
def test_texts_are_compared_with_their_own_owners(team: Team) -> None:
    """Texts are read in the order of the slugs, which no language's alphabet may change."""
    slugs = ["a", "a-b", "a-b-c", "ab", "a1", "a1-b", "b", "z"]
    for slug in slugs:
        agent = agent_create(slug=slug, name=slug, teams=[team])
        AgentFile.objects.filter(agent=agent, file_key="IDENTITY").update(content=f"I am {slug}.", version=2)
    same = shown(packed({f"agents/{slug}/IDENTITY.md": f"I am {slug}." for slug in slugs}))
    assert (same.same, same.steps) == (len(slugs), [])
    plan = shown(packed({f"agents/{slug}/IDENTITY.md": "x" for slug in [*slugs[1:], "a0", "zz"]}))
    lines = {step["unit"]: step["lines"] for step in plan.steps if step["what"] == "file"}
    assert lines["agents/a-b"] == [["-", "I am a-b."], ["+", "x"]]
    assert lines["agents/zz"] == [["+", "x"]]
