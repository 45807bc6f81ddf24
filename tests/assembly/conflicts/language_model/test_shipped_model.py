"""The shipped language model is used unless a setting says otherwise, and finds what cues do not."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.services import agent_create
from assembly.conflicts.detection import InferenceModel, compare_texts
from assembly.conflicts.detection.classifier import load_classifier
from assembly.conflicts.detection.figures import evaluate, figures_of, similarities_by
from assembly.conflicts.detection.labelled_pairs import load_pairs
from assembly.conflicts.language_model import model_in_use as in_use
from assembly.conflicts.language_model.model_in_use import model_in_use
from assembly.models import Conflict
from memories.embeddings.wordllama import WordLlama
from tests.assembly.conflicts.conflict_factories import remember, run_jobs
from tests.benchmarks.conflict_organisations import OrganisationFigures, load_organisations, measure, use_of

ROOT = Path(__file__).parents[4]
PAIRS = Path(__file__).parents[1] / "pairs"
MOST_BYTES = 100_000_000
LEAST_PRECISION, LEAST_RECALL = 0.42, 0.11
"""These are bounds of what is found among all texts of the unseen organisations; .47 and .13 were measured."""
CONTRADICTIONS = [
    ("The museum is free for children under twelve.", "Children pay the full price at the museum."),
    ("Nadia works alone on the garden project.", "Four people work with Nadia on the garden project."),
    ("The lab notebook is kept on paper.", "The lab notebook exists only as a digital file."),
]
AGREEING = [
    ("Marta leads the design team.", "The head of the design team is Marta."),
    ("The contract ends in March.", "The contract ends on 31 March 2026."),
    ("The bike costs 900 euros.", "The bike weighs 12 kg."),
    ("Priya likes short answers.", "Priya prefers replies that are brief."),
    ("The north wing has new windows.", "The north wing is heated by a gas boiler."),
    ("The office is in Lisbon.", "The office has a roof terrace with a view of the river."),
]


@pytest.fixture
def model(settings: Any, db: None) -> InferenceModel:
    in_use._model_of.cache_clear()
    settings.CONFLICT_MODEL_FOLDER = settings.SHIPPED_CONFLICT_MODEL
    model = model_in_use()
    assert model is not None
    return model


def test_it_is_small_and_says_what_it_is_made_of(settings: Any) -> None:
    folder = settings.SHIPPED_CONFLICT_MODEL
    assert {file.name for file in folder.iterdir()} == {"model.onnx", "tokenizer.json", "config.json", "NOTICE"}
    assert sum(file.stat().st_size for file in folder.iterdir()) < MOST_BYTES
    notice = (folder / "NOTICE").read_text(encoding="utf-8")
    assert "Apache License" in notice
    assert "mpnet" in notice


def test_it_is_the_default() -> None:
    program = (
        "import django; django.setup(); from django.conf import settings; from django.core.checks import run_checks;"
        " print(settings.CONFLICT_MODEL_FOLDER.name, run_checks(tags=['local_files']))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CONFLICT_MODEL_FOLDER"}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert done.stdout.strip() == "contradiction-mpnet []"


@pytest.mark.parametrize(("left", "right"), CONTRADICTIONS)
def test_a_contradiction_without_a_cue_is_found(model: InferenceModel, left: str, right: str) -> None:
    assert compare_texts(left, right, similarity=0.6).label != "conflict"
    found = compare_texts(left, right, similarity=0.6, model=model)
    assert (found.label, found.kind) == ("conflict", "meaning")
    assert found.model == model.name
    assert compare_texts(right, left, similarity=0.6, model=model).probability == found.probability


@pytest.mark.parametrize(("left", "right"), AGREEING)
def test_texts_that_agree_are_no_conflict(model: InferenceModel, left: str, right: str) -> None:
    assert compare_texts(left, right, similarity=0.7, model=model).label != "conflict"


DEPOT = """## Depot

Pallets are stacked two high.
- Invoices are due within 30 days.
- Visitors may not take photos.
"""


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("Invoices are due within 14 days.", "Invoices are due within 30 days."),
        ("Visitors may take photos.", "Visitors may not take photos."),
    ],
)
def test_a_heading_that_says_nothing_about_a_line_hides_no_contradiction(
    model: InferenceModel, note: str, line: str
) -> None:
    found = compare_texts(note, DEPOT, similarity=0.3, model=model)
    assert (found.label, found.right_statement) == ("conflict", line)


@pytest.mark.deep
def test_precision_and_recall_among_all_texts_of_organisations(model: InferenceModel) -> None:
    sums = OrganisationFigures()
    for organisation in load_organisations():
        if use_of(organisation.name) == "unseen":
            sums.add(measure(organisation, model))
    assert sums.shares()["precision"] >= LEAST_PRECISION
    assert sums.shares()["recall"] >= LEAST_RECALL


def test_a_worker_finds_what_contradicts_without_a_cue(model: InferenceModel) -> None:
    agent = agent_create(slug="ada", name="Ada", teams=[])
    for text in (*CONTRADICTIONS[1], "The museum has a garden."):
        remember(agent, text)
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.kind, conflict.status) == ("meaning", "open")
    assert conflict.model == model.name
    assert conflict.model.startswith("contradiction-mpnet@")


@pytest.mark.parametrize(
    ("file", "precision", "recall", "false_alarms"),
    [
        ("sealed", 0.9, 0.7, 0.05),
        pytest.param("newcomers", 0.9, 0.65, 0.05, marks=pytest.mark.deep),
        pytest.param("institutions", 0.9, 0.7, 0.05, marks=pytest.mark.deep),
    ],
)
def test_pairs_of_writers_that_it_has_not_seen_are_told_apart(
    model: InferenceModel, file: str, precision: float, recall: float, false_alarms: float
) -> None:
    pairs = load_pairs(PAIRS / f"{file}.jsonl")
    figures = figures_of(evaluate(pairs, similarities_by(WordLlama()), load_classifier(), model))
    assert figures["precision"] >= precision
    assert figures["recall"] >= recall
    assert figures["false_alarms"] <= false_alarms
    assert figures["duplicate_precision"] >= 0.95
