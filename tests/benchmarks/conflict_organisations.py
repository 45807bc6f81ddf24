"""Whole organisations with planted contradictions: their files, and the notes of their agents.

The other corpora tell how many pairs are called conflicts by mistake, and the pairs with labels which ones are found if
they are compared. Here both are measured together, as in an installation: each text is compared with those that are
near, most pairs are about the same people and things and agree, and some notes contradict one line of a file. Two
thirds of these have no cue.

Thirty-two writers who saw neither the code nor each other's texts wrote an organisation each,
`tests/assembly/conflicts/organisations/NAME.json`: `files` in Markdown, and `notes` with a `text`, a `label` (conflict,
duplicate, refining, none) and the `line` that a note is about. The shipped language model was trained with most of
them; its thresholds were chosen with THRESHOLDS, and UNSEEN were measured when it was done.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assembly.conflicts.detection import Comparison, InferenceModel, compare_texts
from assembly.conflicts.detection.neighbours import CorpusText, Neighbours, find_neighbours
from assembly.conflicts.nearest_texts import FURTHER, NEAREST
from memories.embeddings.splitting import split_text
from memories.embeddings.wordllama import WordLlama

FOLDER = Path(__file__).parents[1] / "assembly" / "conflicts" / "organisations"
THRESHOLDS = ("laboratory", "mountain_hut", "radio_station", "platform_team", "kindergarten")
UNSEEN = ("telecom_support", "organic_farm", "furniture_maker", "sailing_club", "tram_operator", "translators")


@dataclass(frozen=True, slots=True)
class Note:
    """A note of an organisation, and the line of a file that it is about; None: it contradicts none."""

    text: str
    label: str
    line: str | None

    @property
    def is_planted(self) -> bool:
        """Whether the note contradicts its line."""
        return self.label == "conflict"


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

    def is_contradiction(self, pair: Neighbours) -> bool:
        """Return whether the texts contradict each other, as their writer says.

        Of two notes about one line, one contradicts the other if one of them contradicts the line.
        """
        notes = {note.text: note for note in self.notes}
        left, right = notes.get(pair.left), notes.get(pair.right)
        if left and right:
            return left.line is not None and left.line == right.line and left.is_planted != right.is_planted
        note, passage = (left, pair.right) if left else (right, pair.left)
        return note is not None and note.is_planted and str(note.line) in passage


@dataclass(slots=True)
class OrganisationFigures:
    """Counts of an organisation: its texts, the notes that contradict a line, and what became of them."""

    texts: int = 0
    planted: int = 0
    compared: int = 0
    """The planted notes that are compared with a text that they contradict."""
    found: int = 0
    """The planted notes of which such a pair is called a conflict."""
    right: int = 0
    """All pairs that contradict each other and are called conflicts, those of two notes, too."""
    wrong: int = 0
    """The pairs that are called conflicts and contradict each other nowhere."""

    def add(self, other: "OrganisationFigures") -> None:
        """Add the counts of another organisation."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def shares(self) -> dict[str, float]:
        """Return the figures by name: shares from 0 to 1, and the wrong conflicts per 100 texts."""
        return {
            "precision": self.right / max(1, self.right + self.wrong),
            "recall": self.found / max(1, self.planted),
            "reached_recall": self.compared / max(1, self.planted),
            "wrong_per_100_texts": self.wrong * 100 / max(1, self.texts),
        }


def use_of(name: str) -> str:
    """Return what an organisation was used for: trained, thresholds or unseen."""
    return "thresholds" if name in THRESHOLDS else "unseen" if name in UNSEEN else "trained"


def load_organisations() -> Iterator[Organisation]:
    """Yield all organisations."""
    for file in sorted(FOLDER.glob("*.json")):
        facts = json.loads(file.read_text(encoding="utf-8"))
        notes = [Note(note["text"], note["label"], note["line"]) for note in facts["notes"]]
        yield Organisation(file.stem, facts["files"], notes)


def measure(organisation: Organisation, model: InferenceModel | None) -> OrganisationFigures:
    """Return what is found in an organisation, compared as workers do."""
    texts = organisation.texts()
    planted = {note.text for note in organisation.notes if note.is_planted}
    figures = OrganisationFigures(texts=len(texts), planted=len(planted))
    compared, found = set(), set()
    for pair, comparison in compare_all(texts, model):
        is_true, is_found = organisation.is_contradiction(pair), comparison.label == "conflict"
        note = next((one for one in (pair.left, pair.right) if one in planted), "")
        if is_true:
            compared.add(note)
        if is_true and is_found:
            found.add(note)
            figures.right += 1
        elif is_found:
            figures.wrong += 1
    figures.compared, figures.found = len(compared), len(found)
    return figures


def compare_all(texts: Sequence[CorpusText], model: InferenceModel | None) -> Iterator[tuple[Neighbours, Comparison]]:
    """Yield each pair of texts that workers compare, and how they are related."""
    for pair in find_neighbours(texts, WordLlama(), nearest=NEAREST, further=FURTHER):
        yield pair, compare_texts(pair.left, pair.right, similarity=pair.similarity, model=model)
