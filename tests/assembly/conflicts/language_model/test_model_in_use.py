"""A worker asks the language model of a folder about what was saved, and goes on by cues where it fails."""

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from assembly.conflicts.language_model import model_in_use as in_use
from assembly.conflicts.language_model.model_in_use import REST_SECONDS, model_in_use
from assembly.conflicts.language_model.onnx_inference import OnnxInference
from assembly.models import Alert, Conflict
from assembly.notifications.sentences import alert_title
from teams.models import User
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, remember, run_jobs
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN, write_model

ROOT = Path(__file__).parents[4]


@pytest.fixture
def agent(db: None) -> Agent:
    return agent_create(slug="ada", name="Ada", teams=[])


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    in_use._model_of.cache_clear()
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path / "tiny-nli")
    return tmp_path / "tiny-nli"


def test_what_contradicts_without_a_cue_is_found_by_the_model(agent: Agent, folder: Path) -> None:
    remember(agent, VEGAN)
    remember(agent, BEEF)
    assert run_jobs() == 1
    conflict = Conflict.objects.get()
    assert (conflict.kind, conflict.status, conflict.strategy) == ("meaning", "open", "flag")
    assert conflict.model.startswith("tiny-nli@")
    assert conflict.cue == (
        f"The language model {conflict.model} finds that one contradicts the other (probability 99 %)."
    )
    assert {conflict.left_statement, conflict.right_statement} == {VEGAN, BEEF}
    assert conflict.probability == pytest.approx(0.9933, abs=1e-4)
    assert conflict.severity == pytest.approx(0.7947, abs=1e-4)


def test_without_a_model_it_is_not_found(agent: Agent) -> None:
    assert model_in_use() is None
    remember(agent, VEGAN)
    remember(agent, BEEF)
    run_jobs()
    assert not Conflict.objects.exists()


def test_what_the_cues_find_stays_only_if_the_model_finds_it_likely(agent: Agent, folder: Path) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    assert not Conflict.objects.exists(), "the tiny model knows of vegans alone"


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("Use British spelling in all letters.", "All letters use British spelling."), "duplicate"),
        (("Der Laden in der Altstadt öffnet um 8 Uhr.", "Der Laden in der Altstadt öffnet um 9 Uhr."), "time"),
    ],
)
def test_duplicates_by_cues_and_values_in_other_languages_are_not_asked_about(
    agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch, texts: tuple[str, str], kind: str
) -> None:
    monkeypatch.setattr(OnnxInference, "load", lambda *_, **__: pytest.fail("the model was loaded"))
    for text in texts:
        remember(agent, text)
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.kind, conflict.model) == (kind, "")


def test_a_contradiction_in_one_direction_alone_is_none(agent: Agent, folder: Path) -> None:
    write_model(folder, is_one_sided=True)
    remember(agent, VEGAN)
    remember(agent, BEEF)
    run_jobs()
    assert not Conflict.objects.exists()


def test_the_model_is_loaded_once(agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = OnnxInference.load

    def count(*arguments: Any, **options: Any) -> OnnxInference:
        loaded.append(options)
        return load(*arguments, **options)

    monkeypatch.setattr(OnnxInference, "load", count)
    for text in (VEGAN, BEEF, "On most days the school canteen cooks a stew."):
        remember(agent, text)
        run_jobs()
    assert loaded == [{"threads": 1}]
    assert Conflict.objects.filter(kind="meaning").count() == 2


def test_a_broken_graph_loses_no_job_and_is_tried_again_later(
    agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "model.onnx").write_bytes(b"no graph")
    now = [1_000.0]
    monkeypatch.setattr(in_use, "monotonic", lambda: now[0])
    for text in (VEGAN, BEEF, EIGHTY, NINETY):
        remember(agent, text)
    with caplog.at_level(logging.WARNING, logger=in_use.__name__):
        assert run_jobs() == 1
        remember(agent, "Beef stew is cooked by the school canteen.")
        assert run_jobs() == 1
    assert [conflict.kind for conflict in Conflict.objects.all()] == ["time"], "cues find what they find"
    [told] = caplog.messages
    assert told.startswith("conflicts are found by cues alone for 300 seconds, because the language model failed: ")
    write_model(folder)
    now[0] += REST_SECONDS
    remember(agent, "The school canteen cooks beef.")
    run_jobs()
    assert Conflict.objects.filter(kind="meaning").exists()


def test_an_alert_tells_that_it_fails_again_until_it_answers(
    agent: Agent, admin: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "model.onnx").write_bytes(b"no graph")
    now = [1_000.0]
    monkeypatch.setattr(in_use, "monotonic", lambda: now[0])
    for text in (VEGAN, BEEF):
        remember(agent, text)
    run_jobs()
    assert not Alert.objects.exists(), "it may have been an accident"
    for text in ("Beef stew is cooked by the school canteen.", "On most days the school canteen cooks a stew."):
        now[0] += REST_SECONDS
        remember(agent, text)
        run_jobs()
    alert = Alert.objects.get()
    assert (alert.kind, alert.closed, alert.name) == ("model_failing", None, folder.name)
    assert alert.detail["why"].startswith("Conflicts are found by cues alone, because the language model fails: ")
    assert alert_title(alert) == f"The language model {folder.name} fails"
    write_model(folder)
    now[0] += REST_SECONDS
    remember(agent, "The school canteen cooks beef.")
    run_jobs()
    assert Alert.objects.get().closed is not None


def test_a_failure_while_it_answers_loses_no_job(
    agent: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(OnnxInference, "_inputs", fail)
    for text in (VEGAN, BEEF, EIGHTY, NINETY):
        remember(agent, text)
    with caplog.at_level(logging.WARNING, logger=in_use.__name__):
        assert run_jobs() == 1
    assert [conflict.kind for conflict in Conflict.objects.all()] == ["time"]
    assert "MemoryError" in caplog.text
    model = model_in_use()
    assert model is not None
    assert model._loaded is None, "its memory is free again"


@pytest.mark.deep
def test_nothing_of_it_is_imported_unless_a_folder_is_named() -> None:
    program = (
        "import sys, django; django.setup(); import assembly.conflicts.find as find; from django.core.checks import"
        " run_checks; run_checks(tags=['local_files']); assert find.model_in_use() is None;"
        f" find.compare_texts({VEGAN!r}, {BEEF!r}, similarity=0.7, model=find.model_in_use());"
        " print('onnxruntime' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "False"
