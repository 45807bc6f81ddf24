"""Whole corpora in which nearly every pair of texts is unrelated, unlike the pairs with labels.

The corpora are of two kinds. Those of TRAINING are where detection learns what is no contradiction; with the others it
is measured only. `demo` is the demo with all of its texts; `docs` are the pages of this documentation, in passages;
text kinds are those of `text_kinds`, made of read-me files and the Python reference, at most MOST_PASSAGES of each.

LoCoMo's conversations and BEAM's messages of at most MOST_CHARACTERS are no part of this project. They are read from
the folders `locomo` and `beam` of CORPORA, and skipped without it.

`python -m tests.benchmarks.conflict_corpora FOLDER` writes those of TRAINING for `train_conflicts --corpora FOLDER`,
and sentences of some of them as corpora of short texts.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from assembly.conflicts.detection.neighbours import CorpusText
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.text_kinds import write_kinds

DOCS = Path(__file__).parents[2] / "docs"
KINDS = {
    "manuals_1": "manuals/manuals-1",
    "reference_1": "reference/reference-1",
    "changes": "changes/changes-1",
    "manuals_2": "manuals/manuals-2",
    "reference_2": "reference/reference-2",
    "licences": "licences/licences-1",
}
"""The text kinds that are no code, by the name of the corpus."""
TRAINING = ("docs", "manuals_1", "reference_1", "changes")
MEASURING = ("demo", "locomo", "beam", "manuals_2", "reference_2", "licences")
WITH_SENTENCES = ("docs", "manuals_1", "reference_1")
"""Those of TRAINING of which sentences are a corpus, too."""
MOST_PASSAGES, MOST_CHARACTERS = 300, 700
MOST_SENTENCES, LEAST_WORDS, MOST_WORDS = 700, 5, 28

_PARAGRAPH, _SENTENCE = re.compile(r"\n\s*\n|\n(?=[-*|#>])"), re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def corpus_names() -> list[str]:
    """Return the names of the corpora that can be read here."""
    folder = os.environ.get("CORPORA")
    missing = [name for name in ("locomo", "beam") if not folder or not (Path(folder) / name).is_dir()]
    return [name for name in (*MEASURING, *TRAINING) if name not in missing]


def load_corpora(names: Sequence[str]) -> Iterator[tuple[str, list[CorpusText]]]:
    """Yield the texts of each corpus."""
    readers: Mapping[str, Callable[[], list[CorpusText]]] = {
        "demo": _demo,
        "docs": _docs,
        "locomo": lambda: _conversations(sorted((Path(os.environ["CORPORA"]) / "locomo").glob("*.json"))),
        "beam": lambda: [
            text
            for text in _conversations(sorted((Path(os.environ["CORPORA"]) / "beam").glob("*.json")))
            if len(text.text) < MOST_CHARACTERS
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        if any(name in KINDS for name in names):
            write_kinds(Path(folder))
        for name in names:
            if name in KINDS:
                yield name, _conversations([Path(folder) / f"{KINDS[name]}.json"])[:MOST_PASSAGES]
            else:
                yield name, readers[name]()


def _demo() -> list[CorpusText]:
    """Return all texts of the demo, read from a database into which it is loaded."""
    import django

    manage("migrate", "--verbosity", "0")
    django.setup()
    from django.utils import timezone

    from agents.models import AgentTeam
    from assembly.conflicts.compared_texts import items_of_all_kinds, texts_of
    from assembly.demo.loading import demo_load, load_plan
    from memories.embeddings.file_splitting import file_split, files_without_passages

    demo_load(plan=load_plan(), now=timezone.now(), advance=lambda _: None)
    for kind, id_ in [*files_without_passages(None)]:
        file_split(kind=kind, id_=id_)
    read = [text for kind, ids in items_of_all_kinds() for id_ in ids for text in texts_of(kind, id_) or ()]
    reach: dict[str, set[str]] = {"": {""}}
    for agent, team in AgentTeam.objects.values_list("agent_id", "team_id"):
        reach.setdefault(str(agent), {str(agent), ""}).add(str(team))
        reach.setdefault(str(team), {str(team), ""}).add(str(agent))
    owners = {str(text.agent_id or text.team_id or "") for text in read}
    texts = []
    for text in read:
        owner = str(text.agent_id or text.team_id or "")
        near = frozenset(reach.get(owner, {owner, ""}) if owner else owners)
        vector = tuple(map(float, json.loads(text.vector))) if text.vector else None
        texts.append(CorpusText(text.text, str(text.item), owner, near, text.names, vector))
    return [text for text in texts if text.vector]


def _docs() -> list[CorpusText]:
    from memories.embeddings.splitting import split_text

    return [
        CorpusText(piece.text, page.name, "docs", frozenset(("docs",)))
        for page in sorted(DOCS.glob("**/*.md"))
        for piece in split_text(path=page.name, language="markdown", text=page.read_text(encoding="utf-8"))
    ]


def _conversations(files: Sequence[Path]) -> list[CorpusText]:
    """Return the messages of conversations, each of which has its own owner and is a memory of its own."""
    texts = []
    for file in files:
        facts = json.loads(file.read_text(encoding="utf-8"))
        said = [turn for key, turns in facts.items() if isinstance(turns, list) and key != "qa" for turn in turns]
        owner, reach = file.stem, frozenset((file.stem,))
        texts += [
            CorpusText(text, f"{owner} {number}", owner, reach)
            for number, turn in enumerate(said)
            if (text := turn.get("text", "").strip())
        ]
    return texts


def sentences_of(passages: Sequence[CorpusText]) -> list[CorpusText]:
    """Return whole sentences of the passages as texts of their own, evenly chosen, at most about MOST_SENTENCES.

    They teach what is no contradiction between notes of one sentence, of which whole passages say nothing.
    """
    found = dict.fromkeys(
        sentence
        for passage in passages
        for paragraph in _PARAGRAPH.split(passage.text)
        for sentence in _SENTENCE.split(" ".join(paragraph.split()))
        if sentence[:1].isupper()
        and sentence.endswith(".")
        and LEAST_WORDS <= len(sentence.split()) <= MOST_WORDS
        and not any(mark in sentence for mark in ("|", "]("))
    )
    chosen = list(found)[:: max(1, len(found) // MOST_SENTENCES)][:MOST_SENTENCES]
    return [CorpusText(sentence, str(place)) for place, sentence in enumerate(chosen)]


def _write(folder: Path, name: str, texts: Sequence[CorpusText]) -> None:
    lines = [json.dumps({"text": one.text, "item": one.item}) for one in texts]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for corpus, passages in load_corpora(TRAINING):
        _write(Path(sys.argv[1]), corpus, passages)
        if corpus in WITH_SENTENCES:
            _write(Path(sys.argv[1]), f"{corpus}_sentences", sentences_of(passages))
