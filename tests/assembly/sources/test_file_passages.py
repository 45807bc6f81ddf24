"""Passages of files compete as blocks: searched by the topic, of the current version at once, each with measures."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from agents.services import daily_log_append
from assembly.engine.linear_ranker import block_shares, relevance_of, score_of
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.profiles.rankers import RANKERS
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, RequestFilters, SourceResult
from assembly.sources.file_passages import MAX_SPLIT_CHARACTERS, passages_with_drafts
from memories.embeddings.file_splitting import file_split, files_without_passages
from memories.models import EmbeddingSpace, FilePassage
from teams.models import OrganisationFile, Team, TeamFile
from teams.organisation.services import organisation_file_create, organisation_file_delete
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import VersionedFile, file_save
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import gather_context, stranger

pytestmark = pytest.mark.django_db

TOPIC = "Which animal did the cat hunt?"
CAT, INVOICE = "The kitten chased a mouse.", "The invoice was paid late."
WEATHER = [f"Paragraph {number} is about the weather at sea, and nothing else at all." for number in range(6)]
Queries = Callable[[int], AbstractContextManager[Any]]


def long_text(*paragraphs: str) -> str:
    """A text that is split into one passage per paragraph."""
    return "\n\n".join(f"## Part {place}\n\n{text} {'It goes on. ' * 40}" for place, text in enumerate(paragraphs))


def section(key: str, source: str, shape: Any = "blocks") -> Section:
    return Section(key, key.title(), "L2", source, shape)


def gathered(wanted: GatherContext, *sections: Section) -> SourceResult:
    return SOURCES[sections[0].source].gather(wanted, sections)


def found(wanted: GatherContext, *sections: Section) -> list[Candidate]:
    return list(gathered(wanted, *sections).candidates)


def save(file: Any, content: str, *, split: bool = True) -> Any:
    saved = file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)
    if split:
        split_all()
    return saved


def split_all() -> None:
    for kind, id_ in list(files_without_passages(None)):
        file_split(kind=kind, id_=id_)


def changed(file: VersionedFile, hours_ago: float) -> None:
    type(file)._default_manager.filter(id=file.id).update(updated_at=NOW - datetime.timedelta(hours=hours_ago))


def organisation_file(key: str, content: str, hours_ago: float = 48, *, split: bool = True) -> OrganisationFile:
    file = organisation_file_create(key=key, title=key.title(), content=content, principal=SYSTEM)
    changed(file, hours_ago)
    if split:
        split_all()
    return file


def ranked_context(agent: Agent, topic: str = TOPIC, **facts: Any) -> GatherContext:
    return gather_context(agent, topic, ranker=RANKERS["default"], **facts)


KNOWLEDGE = section("knowledge", "agent_files")
ORGANISATION = section("organisation", "organisation_files")
LOGS = section("daily_logs", "daily_logs")


# --- What is found ---


def test_the_passages_nearest_to_the_topic_come_first_with_all_measures(agent: Agent) -> None:
    file = save(agent.files.get(file_key="KNOWLEDGE"), long_text(*WEATHER, CAT, INVOICE))
    changed(file, 24)
    [best, *others] = found(ranked_context(agent), KNOWLEDGE)
    assert (best.ref, best.kind, best.labels) == (
        f"agent_file:{file.id}@2#6", "KNOWLEDGE", {"path": ("KNOWLEDGE",)}
    )  # fmt: skip
    assert best.text.startswith(f"## Part 6\n\n{CAT}")
    assert best.occurred_at == NOW - datetime.timedelta(hours=24)
    assert best.similarity is not None
    assert best.score == best.measures["relevance"] == relevance_of(score_of(block_shares(RANKERS["default"], best)))
    assert best.measures["recency"] == pytest.approx(0.36788, rel=1e-4)
    assert (best.measures["salience"], best.measures["credibility"]) == (0.5, 0.5)
    assert {"similarity_z", "words_z", "brevity"} <= best.measures.keys()
    assert len(others) == 7
    assert all((one.score or 0) <= (best.score or 0) for one in others)


def test_a_profile_without_a_ranker_scores_by_the_formula_of_the_seed(agent: Agent) -> None:
    file = save(agent.files.get(file_key="KNOWLEDGE"), long_text("An invoice.", CAT))
    changed(file, 2)
    [candidate, _] = found(gather_context(agent, "invoice"), KNOWLEDGE)
    assert candidate.ref.endswith("#0")
    assert candidate.measures["boosts"] == pytest.approx(1.1 * 1.2)
    assert candidate.score == pytest.approx((candidate.similarity or 0) * 1.1 * 1.2)


def test_each_section_has_passages_of_the_file_that_it_is_named_after(agent: Agent, team: Team) -> None:
    for key in TeamFile.Key.values:
        save(team.files.get(file_key=key), long_text(*(f"{CAT} {key}" for _ in range(25))))
    wanted = ranked_context(agent, team_of=team)
    result = gathered(wanted, section("goals", "team_files"), section("rules", "team_files"))
    assert result.limit == 40
    by_section = {key: [one for one in result.candidates if one.section == key] for key in ("goals", "rules")}
    for key, candidates in by_section.items():
        assert len(candidates) == 20
        assert {one.kind for one in candidates} == {key.upper()}
    assert {one.section for one in result.candidates} == {"goals", "rules"}


def test_in_the_same_profile_a_section_of_text_has_the_whole_file(agent: Agent) -> None:
    whole = save(agent.files.get(file_key="INSTRUCTIONS"), long_text(CAT, INVOICE))
    save(agent.files.get(file_key="KNOWLEDGE"), long_text(CAT, INVOICE))
    result = gathered(ranked_context(agent), section("instructions", "agent_files", "text"), KNOWLEDGE)
    texts = [one for one in result.candidates if one.section == "instructions"]
    assert [(one.ref, one.text) for one in texts] == [(whole.ref, whole.content)]
    assert len([one for one in result.candidates if one.section == "knowledge"]) == 2
    assert result.limit == 21
    assert SOURCES["agent_files"].reading is not None
    assert SOURCES["agent_files"].reading(ranked_context(agent), [KNOWLEDGE]) is None


def test_the_organisations_files_compete_with_each_other_and_name_themselves(agent: Agent) -> None:
    for number, text in enumerate(WEATHER):
        organisation_file(f"weather-{number}", long_text(*[text] * 5))
    file = organisation_file("animals", long_text(INVOICE, CAT))
    [best, *others] = found(ranked_context(agent), ORGANISATION)
    assert best.ref == f"organisation_file:{file.id}@1#1"
    assert best.text.startswith(f"Animals:5\n## Part 1\n\n{CAT}")
    assert (best.kind, best.labels) == ("animals", {"path": ("animals", "Animals")})
    assert len(others) == 19


def test_logs_of_the_last_week_have_passages_with_their_day(agent: Agent) -> None:
    days = [NOW.date() - datetime.timedelta(days=age) for age in (0, 3, 6, 7)]
    for day in days:
        log = daily_log_append(agent=agent, date=day, text=long_text(CAT, f"{INVOICE} {day}"), principal=SYSTEM)
        changed(log, 1)
    split_all()
    candidates = found(ranked_context(agent), LOGS)
    assert {one.date for one in candidates} == set(days[:3])
    assert len(candidates) == 6
    assert candidates[0].text.startswith(f"{candidates[0].date}:1\n## Part 0\n\n{CAT}")
    moments = {one.date: one.occurred_at for one in candidates}
    assert moments[days[0]] == NOW - datetime.timedelta(hours=1)
    ended = moments[days[1]]
    assert ended is not None, "an old log was edited an hour ago, but tells of its day"
    assert ended.date() == days[1]


def test_without_a_topic_the_first_passages_of_what_changed_last_come_by_recency(agent: Agent) -> None:
    for number in range(8):
        organisation_file(f"file-{number}", long_text(*WEATHER), hours_ago=number + 1)
    candidates = found(gather_context(agent), ORGANISATION)
    assert [one.kind for one in candidates][:7] == [*["file-0"] * 3, *["file-1"] * 3, "file-2"]
    assert len(candidates) == 20
    assert all(one.score == one.measures["recency"] and one.measures["relevance"] == 0 for one in candidates)
    assert [one.ref.partition("#")[2] for one in candidates][:4] == ["0", "1", "2", "0"]
    assert candidates == sorted(candidates, key=lambda one: -(one.score or 0))


def test_without_a_topic_a_named_file_begins_at_its_beginning(agent: Agent) -> None:
    save(agent.files.get(file_key="KNOWLEDGE"), long_text(*WEATHER * 5))
    candidates = found(gather_context(agent), KNOWLEDGE)
    assert [one.ref.partition("#")[2] for one in candidates] == [str(place) for place in range(20)]


def test_more_come_where_some_are_excluded(agent: Agent) -> None:
    file = save(agent.files.get(file_key="KNOWLEDGE"), long_text(*WEATHER * 5))
    filters = RequestFilters(exclude=(f"agent_file:{file.id}@2#0", f"agent_file:{file.id}@2#1"))
    result = gathered(ranked_context(agent, filters=filters), KNOWLEDGE)
    assert len(result.candidates) == result.limit == 22


@pytest.mark.parametrize("topic", [TOPIC, ""])
def test_texts_of_others_are_never_considered(agent: Agent, topic: str) -> None:
    other = stranger()
    save(other.files.get(file_key="KNOWLEDGE"), long_text(CAT))
    daily_log_append(agent=other, date=NOW.date(), text=CAT, principal=SYSTEM)
    split_all()
    wanted = ranked_context(agent, topic)
    for one in (KNOWLEDGE, LOGS, section("goals", "team_files"), ORGANISATION):
        assert not found(wanted, one)


# --- Never outdated, never missing ---


@pytest.mark.parametrize("ranker", [RANKERS["default"], None])
def test_what_was_just_published_is_found_before_any_job_has_run(agent: Agent, ranker: Any) -> None:
    file = save(agent.files.get(file_key="KNOWLEDGE"), long_text(INVOICE, *WEATHER))
    file = save(file, long_text(CAT, *WEATHER), split=False)
    assert set(FilePassage.objects.values_list("file_version", flat=True)) == {2}
    waiting = found(gather_context(agent, TOPIC, ranker=ranker), KNOWLEDGE)
    assert waiting[0].ref == f"agent_file:{file.id}@3#0"
    assert CAT in waiting[0].text
    assert not any(INVOICE in one.text for one in waiting)
    split_all()
    assert found(gather_context(agent, TOPIC, ranker=ranker), KNOWLEDGE) == waiting


def test_files_with_and_without_stored_passages_are_compared_with_each_other(agent: Agent) -> None:
    organisation_file("stored", long_text(*WEATHER))
    organisation_file("new", long_text(*WEATHER, CAT), split=False)
    mixed = found(ranked_context(agent), ORGANISATION)
    assert mixed[0].kind == "new"
    split_all()
    assert found(ranked_context(agent), ORGANISATION) == mixed


def test_without_a_topic_new_texts_come_as_well(agent: Agent) -> None:
    organisation_file("stored", long_text(*WEATHER), hours_ago=2)
    organisation_file("new", long_text(*WEATHER), hours_ago=1, split=False)
    waiting = found(gather_context(agent), ORGANISATION)
    assert [one.kind for one in waiting] == [*["new"] * 3, *["stored"] * 3]
    split_all()
    assert found(gather_context(agent), ORGANISATION) == waiting


def test_a_new_text_in_another_language_is_found_by_its_words(agent: Agent) -> None:
    organisation_file("english", long_text(*WEATHER))
    organisation_file("haus", "Die Häuser am Hafen wurden verkauft, und nicht das Boot.", split=False)
    topic = "Welches Haus verkaufen wir und nicht das Boot?"
    waiting = found(ranked_context(agent, topic), ORGANISATION)
    assert waiting[0].kind == "haus"
    assert waiting[0].measures["words"] > 0.5
    split_all()
    assert found(ranked_context(agent, topic), ORGANISATION) == waiting


def test_of_long_new_texts_the_last_changed_are_split_up_to_a_limit(agent: Agent) -> None:
    for hours_ago, key in enumerate(("newest", "newer", "older", "oldest"), 1):
        organisation_file(key, f"The {key} words are here. " * (MAX_SPLIT_CHARACTERS // 60), hours_ago, split=False)
    kinds = {one.kind for one in found(gather_context(agent), ORGANISATION)}
    assert kinds == {"newest", "newer", "older"}
    [best, *_] = found(ranked_context(agent, "oldest words"), ORGANISATION)
    assert best.kind != "oldest"
    split_all()
    assert found(ranked_context(agent, "oldest words"), ORGANISATION)[0].kind == "oldest"


def test_a_blank_text_has_no_passages_and_hides_no_others(agent: Agent) -> None:
    file = save(agent.files.get(file_key="KNOWLEDGE"), long_text(CAT))
    save(file, " \n", split=False)
    assert found(ranked_context(agent), KNOWLEDGE) == found(gather_context(agent), KNOWLEDGE) == []


def test_with_an_embedder_on_a_server_new_texts_are_found_by_their_words_alone(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.search.file_search.is_bundled", lambda _: False)
    organisation_file("stored", long_text(*WEATHER))
    organisation_file("new", long_text(CAT, INVOICE), split=False)
    by_kind = {one.kind: one for one in found(ranked_context(agent, "invoice weather"), ORGANISATION)}
    assert by_kind["new"].similarity is None
    assert by_kind["stored"].similarity is not None
    [best, *_] = found(gather_context(agent, "invoice paid late"), ORGANISATION)
    assert (best.kind, best.similarity) == ("new", None)
    assert best.score == pytest.approx(best.measures["boosts"] * 1.0, rel=0.5)


def test_a_topic_whose_meaning_nobody_knows_is_searched_by_its_words(agent: Agent) -> None:
    organisation_file("signs", long_text(*WEATHER, "zxqv means that the disk is full."))
    assert "zxqv" in found(ranked_context(agent, "zxqv", vector=None), ORGANISATION)[0].text


def test_a_deleted_file_has_no_passages(agent: Agent) -> None:
    file = organisation_file("animals", long_text(CAT))
    assert found(ranked_context(agent), ORGANISATION)
    organisation_file_delete(file=file, principal=SYSTEM)
    assert not found(ranked_context(agent), ORGANISATION)


# --- Statements ---


@pytest.mark.parametrize(("split", "queries"), [(True, 4), (False, 3)])
def test_a_search_takes_four_statements_however_many_files_there_are(
    agent: Agent, split: bool, queries: int, django_assert_num_queries: Queries
) -> None:
    for number in range(12):
        organisation_file(f"file-{number}", long_text(CAT, *WEATHER), split=split)
    wanted = ranked_context(agent)
    with django_assert_num_queries(queries):
        assert len(found(wanted, ORGANISATION)) == 20


def test_without_a_topic_two_suffice(agent: Agent, django_assert_num_queries: Queries) -> None:
    for number in range(12):
        organisation_file(f"file-{number}", long_text(CAT, *WEATHER))
    wanted = gather_context(agent)
    with django_assert_num_queries(2):
        assert len(found(wanted, ORGANISATION)) == 20


# --- Drafts ---


def test_a_draft_has_the_passages_that_it_would_have_once_published(agent: Agent) -> None:
    organisation_file("weather", long_text(*WEATHER))
    file = organisation_file("animals", long_text(INVOICE))
    text = long_text(INVOICE, CAT)
    wanted = ranked_context(agent)
    found_with_draft = passages_with_drafts(wanted, [ORGANISATION], [(file, text)])
    drafts = [one for one in found_with_draft if one.kind == "animals"]
    assert [one.ref for one in drafts] == [f"organisation_file:{file.id}@draft#{n}" for n in (1, 0)]
    saved = save(file, text)
    changed(saved, 0)
    published = found(wanted, ORGANISATION)
    assert [(one.text, one.score, one.measures) for one in found_with_draft] == [
        (one.text, one.score, one.measures) for one in published
    ]


def test_a_draft_of_any_file_is_for_its_own_section_and_a_blank_one_has_none(agent: Agent, team: Team) -> None:
    file = save(team.files.get(file_key="GOALS"), long_text(INVOICE))
    sections = [section("goals", "team_files"), section("rules", "team_files")]
    wanted = ranked_context(agent, team_of=team)
    [draft] = passages_with_drafts(wanted, sections, [(file, CAT)])
    assert (draft.ref, draft.section, draft.text) == (f"team_file:{file.id}@draft#0", "goals", CAT)
    assert passages_with_drafts(wanted, sections, [(file, " ")]) == []
    log = daily_log_append(agent=agent, date=NOW.date(), text=INVOICE, principal=SYSTEM)
    [draft] = passages_with_drafts(wanted, [LOGS], [(log, CAT)])
    assert draft.text == f"{NOW.date()}:1\n{CAT}"


def test_a_changed_embedder_is_noticed(agent: Agent) -> None:
    organisation_file("animals", long_text(CAT))
    EmbeddingSpace.objects.update(model="wordllama:64", dimensions=64, slot="second_embedding")
    [candidate] = found(ranked_context(agent), ORGANISATION)
    assert candidate.similarity is None, "no vectors of the new embedder yet"
