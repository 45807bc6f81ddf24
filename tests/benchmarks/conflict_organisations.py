"""Whole organisations with planted contradictions: their files, and the notes of their agents.

The other corpora tell how many pairs are called conflicts by mistake, and the pairs with labels which ones are found if
they are compared. Here both are measured together, as in an installation: each text is compared with those that are
near, most pairs are about the same people and things and agree, and some notes contradict one line of a file. The
writers were asked for two thirds of these without a cue.

Fifty-six writers who saw neither the code nor each other's texts wrote an organisation each,
`tests/assembly/conflicts/organisations/NAME.json`: `files` in Markdown, and `notes` with a `text`, a `label` (conflict,
duplicate, refining, none) and the `line` that a note is about. The shipped language model was trained with 21 of them;
the share of error of longer texts was chosen with THRESHOLD_ORGANISATIONS; UNSEEN_ORGANISATIONS were measured when the
model was done, six of them before it was shipped and eight afterwards; SPARE_ORGANISATIONS are for the training of the
next model. No line has two notes: should two notes contradict each other, this counts as wrong.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assembly.conflicts.detection import InferenceModel, compare_texts
from assembly.conflicts.detection.neighbours import CorpusText, find_neighbours
from assembly.conflicts.nearest_texts import FURTHER, NEAREST
from memories.embeddings.splitting import split_text
from memories.embeddings.wordllama import WordLlama

FOLDER = Path(__file__).parents[1] / "assembly" / "conflicts" / "organisations"
THRESHOLD_ORGANISATIONS = ("laboratory", "mountain_hut", "radio_station", "platform_team", "kindergarten")
UNSEEN_ORGANISATIONS = (
    "telecom_support",
    "organic_farm",
    "furniture_maker",
    "sailing_club",
    "tram_operator",
    "translators",
    "coffee_roastery",
    "event_agency",
    "recruitment_agency",
    "accounting_office",
    "shoe_shop",
    "solar_installer",
    "property_management",
    "botanical_garden",
)
SPARE_ORGANISATIONS = (
    "aircraft_hangar",
    "dental_practice",
    "brewery",
    "food_bank",
    "film_production",
    "recycling_depot",
    "insurance_claims",
    "admissions_office",
    "container_port",
    "pharmacies",
    "football_academy",
    "fire_brigade",
    "game_studio",
    "newspaper",
    "dairy",
    "district_court",
)
USES = {
    "thresholds": frozenset(THRESHOLD_ORGANISATIONS),
    "unseen": frozenset(UNSEEN_ORGANISATIONS),
    "spare": frozenset(SPARE_ORGANISATIONS),
}


@dataclass(frozen=True, slots=True)
class Note:
    """A note of an organisation, and the line of a file that it is about; None if it is about none (label `none`)."""

    text: str
    label: str
    line: str | None


@dataclass(frozen=True, slots=True)
class Organisation:
    """An organisation with all that its agents know."""

    name: str
    files: Sequence[str]
    notes: Sequence[Note]

    def texts(self) -> list[CorpusText]:
        """Return the passages of the files and the notes; all of them have one owner."""
        passages = [
            CorpusText(piece.text, f"file {number}")
            for number, text in enumerate(self.files)
            for piece in split_text(path=f"{number}.md", language="markdown", text=text)
        ]
        return [*passages, *(CorpusText(note.text, f"note {number}") for number, note in enumerate(self.notes))]

    def planted(self) -> dict[str, str]:
        """Return the lines that notes contradict, by the text of the note."""
        return {note.text: note.line for note in self.notes if note.label == "conflict" and note.line}


@dataclass(slots=True)
class OrganisationFigures:
    """Counts of an organisation: its texts, the notes that contradict a line, and what became of them."""

    texts: int = 0
    planted: int = 0
    compared: int = 0
    """Those of them that are compared with the passage of their line."""
    found: int = 0
    """Those of them of which this is called a conflict."""
    wrong: int = 0
    """The other pairs that are called conflicts."""

    def add(self, other: "OrganisationFigures") -> None:
        """Add the counts of another organisation."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def shares(self) -> dict[str, float]:
        """Return the figures by name: shares from 0 to 1, and the wrong conflicts per 100 texts."""
        return {
            "precision": self.found / max(1, self.found + self.wrong),
            "recall": self.found / max(1, self.planted),
            "reached_recall": self.compared / max(1, self.planted),
            "wrong_per_100_texts": self.wrong * 100 / max(1, self.texts),
        }


def use_of(name: str) -> str:
    """Return what an organisation was used for: trained, thresholds, unseen or spare."""
    return next((use for use, names in USES.items() if name in names), "trained")


def load_organisations() -> Iterator[Organisation]:
    """Yield all organisations."""
    for file in sorted(FOLDER.glob("*.json")):
        facts = json.loads(file.read_text(encoding="utf-8"))
        notes = [Note(note["text"], note["label"], note["line"]) for note in facts["notes"]]
        yield Organisation(file.stem, facts["files"], notes)


def measure(organisation: Organisation, model: InferenceModel | None) -> OrganisationFigures:
    """Return what is found in an organisation, compared as workers do."""
    texts, planted = organisation.texts(), organisation.planted()
    figures = OrganisationFigures(texts=len(texts), planted=len(planted))
    for pair in find_neighbours(texts, WordLlama(), nearest=NEAREST, further=FURTHER):
        is_planted = any(
            one in planted and planted[one] in other
            for one, other in ((pair.left, pair.right), (pair.right, pair.left))
        )
        comparison = compare_texts(pair.left, pair.right, similarity=pair.similarity, model=model)
        is_found = comparison.label == "conflict"
        figures.compared += is_planted
        figures.found += is_planted and is_found
        figures.wrong += is_found and not is_planted
    return figures
