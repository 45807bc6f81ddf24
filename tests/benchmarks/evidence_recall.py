"""Recall of evidence for unlike kinds of text: questions whose answers stand in known turns.

DATA=folder has conversations: each of its subfolders is a kind of text, files in the folder itself are one kind. The
kinds that `text_kinds` makes of what is installed here come along, and are all there is without DATA, together with
those that `language_kinds` makes in German and Spanish: no ranker is trained on these unless TRAIN names them.

The shipped ranker is tried on all files of DATA, and on those of the made kinds that it was not trained on. TEST=42,43
names other files to ask about, TRAIN=26,30,41 those to train a ranker on instead; all other files are then asked about.
Where a name occurs twice, its kind stands before it: TEST=locomo/42. LEAVE_OUT=1 trains once more for each kind, on the
files to train of all other kinds, or on all files of these. ABLATE=1 trains without each group of features.

`<kind>_<way>_r_at_20`, `…_r_at_500_tokens` and `…_r_at_2000_tokens` are the mean share of the evidence, 0 to 1, that
stands among the first 20, or fits into so many tokens; `all` is the mean of the kinds. The ways are the `shipped`
ranker (or the one trained here), `similarity` (cosine), `words` (BM25 with k1 1.2 and b .75 on PostgreSQL's stems) and
their `sum`, as standard scores; `left_out` is the ranker that was trained without the kind. A table of them all
follows. Import, search and the engine's ranking are those of the product.
"""

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.language_kinds import write_language_kinds
from tests.benchmarks.text_kinds import HELD_OUT, write_kinds

if TYPE_CHECKING:
    from assembly.engine.linear_ranker import Ranker
    from assembly.profiles.training.labelled_questions import Conversation, EvidenceQuestion, LabelledQuestion
    from assembly.profiles.training.recall import Figures

NAME = "evidence_recall"
FOUND = 150
"""More than fit into the largest budget."""
ALL = "all"

Results = dict[str, dict[str, "list[Figures]"]]
"""By kind and way, the figures of each question."""
Table = dict[str, dict[str, "Figures"]]
"""By kind and way, the mean of each figure."""


def run() -> None:
    """Print the mean share of the evidence that comes first, per kind of text and way of ranking."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    with tempfile.TemporaryDirectory() as folder:
        given, made = _given(), write_kinds(Path(folder))
        files, languages = [*given, *made], write_language_kinds(Path(folder))
        train = _named([*files, *languages], "TRAIN")
        test = _named([*files, *languages], "TEST") or [*_untrained(given, made, train), *languages]
        ranker = _trained(train)
        left_out = (
            {kind: _without(kind, train or files) for kind in _kinds(test) if kind in _kinds(train or files)}
            if os.environ.get("LEAVE_OUT")
            else {}
        )
        _report(_through_everything(test, ranker, left_out))
        if os.environ.get("ABLATE") and train:
            _ablate(train, test)


def _given() -> list[Path]:
    data = os.environ.get("DATA")
    files = sorted([*Path(data).glob("*.json"), *Path(data).glob("*/*.json")]) if data else []
    if data and not files:
        raise SystemExit(f"DATA={data} has neither NAME.json nor KIND/NAME.json.")
    return [file.resolve() for file in files]


def _named(files: Sequence[Path], variable: str) -> list[Path]:
    names = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    named = [[file for file in files if name in (file.stem, _full_name(file))] for name in names]
    for name, found in zip(names, named, strict=True):
        if len(found) != 1:
            many = " or ".join(map(_full_name, found)) or "nothing of that name"
            raise SystemExit(f"{variable}: {name} may be {many}. Name one of {', '.join(map(_full_name, files))}.")
    return [file for found in named for file in found]


def _full_name(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def _untrained(given: Sequence[Path], made: Sequence[Path], train: Sequence[Path]) -> list[Path]:
    if train:
        return [file for file in (*given, *made) if file not in train]
    return [*given, *(file for file in made if file.stem in HELD_OUT)]


def _kinds(files: Sequence[Path]) -> list[str]:
    return sorted({file.parent.name for file in files})


def _trained(files: Sequence[Path]) -> "Ranker":
    from assembly.engine.linear_ranker import Ranker
    from assembly.profiles.rankers import RANKERS
    from assembly.profiles.training.fitting import MANUAL_WEIGHTS, trained_weights

    shipped = RANKERS["default"]
    if not files:
        return shipped
    weights = trained_weights([question for file in files for question in _labelled(file)])
    facts = {
        "weights": {**weights.long, **MANUAL_WEIGHTS},
        "brief_weights": {**(weights.brief or {}), **MANUAL_WEIGHTS},
    }
    return Ranker.from_dict({**shipped.to_dict(), **facts})


@cache
def _labelled(file: Path) -> "list[LabelledQuestion]":
    """Return the measured questions of the file: with each kind left out, those of the others train again."""
    from assembly.profiles.training.labelled_questions import load_labelled_questions

    return load_labelled_questions(file)


def _without(kind: str, train: Sequence[Path]) -> "Ranker":
    others = [file for file in train if file.parent.name != kind]
    if not others:
        raise SystemExit("LEAVE_OUT=1 needs files to train of several kinds.")
    return _trained(others)


def _through_everything(files: Sequence[Path], ranker: "Ranker", left_out: "Mapping[str, Ranker]") -> Results:
    from assembly.profiles.training.labelled_questions import stored_conversation
    from tests.benchmarks.simple_ways import SimpleWays

    results: Results = defaultdict(lambda: defaultdict(list))
    for file in files:
        kind = file.parent.name
        with stored_conversation(file) as conversation:
            simple = SimpleWays(conversation)
            for asked in conversation.asked:
                orders = {"shipped": _order(conversation, asked, ranker), **simple.orders(asked)}
                if kind in left_out:
                    orders["left_out"] = _order(conversation, asked, left_out[kind])
                for way, order in orders.items():
                    results[kind][way].append(_recall(conversation, asked, order))
    return results


def _order(conversation: "Conversation", asked: "EvidenceQuestion", ranker: "Ranker") -> list[int]:
    """Return the places of the conversation's memories as the search and the engine rank them, the best first."""
    from assembly.engine.ranking import rank
    from assembly.engine.types import Candidate
    from assembly.profiles.shipped import SIMILARITY_THRESHOLD
    from assembly.profiles.training.labelled_questions import LINES
    from assembly.sources.memories import search_weights
    from memories.search.memory_search import search_memories

    found = search_memories(
        owner=conversation.agent, question=asked.question, weights=search_weights(ranker), limit=FOUND, recent=20
    )
    candidates = [
        Candidate(str(memory.id), LINES.key, memory.text, similarity=memory.similarity, measures=memory.measures)
        for memory in found
    ]
    ranked = [item for item in rank(LINES, candidates, SIMILARITY_THRESHOLD, ranker=ranker) if item.code is None]
    places = {str(id_): place for place, id_ in enumerate(conversation.tokens)}
    return [places[item.candidate.ref] for item in ranked]


def _recall(conversation: "Conversation", asked: "EvidenceQuestion", order: Sequence[int]) -> "Figures":
    from assembly.profiles.training.recall import recall

    evidence = [place for place, id_ in enumerate(conversation.tokens) if id_ in asked.evidence]
    return recall(order, evidence, list(conversation.tokens.values()))


def _report(results: Results) -> None:
    """Print the figures of each kind and the mean of the kinds, and a table of them."""
    from assembly.profiles.training.fitting import REPORTED_FIGURES

    table: Table = defaultdict(dict)
    for kind, ways in sorted(results.items()):
        for way, questions in ways.items():
            table[kind][way] = {name: fmean(one[name] for one in questions) for name in REPORTED_FIGURES}
            for name, value in table[kind][way].items():
                figure(NAME, f"{kind}_{way}_{name}", value, "share", len(questions))
    for way in dict.fromkeys(way for ways in table.values() for way in ways):
        of_kinds = [ways[way] for ways in table.values() if way in ways]
        means = {name: fmean(one[name] for one in of_kinds) for name in REPORTED_FIGURES}
        for name, value in means.items():
            figure(NAME, f"{ALL}_{way}_{name}", value, "share", len(of_kinds))
        table.setdefault(ALL, {})[way] = means
    _print_table(table, REPORTED_FIGURES)


def _print_table(table: "Table", names: Sequence[str]) -> None:
    """Print a line per kind and way to the error stream, so that the output stays JSON, line by line."""
    print(f"{'kind':20}{'way':12}" + "".join(f"{name:>18}" for name in names), file=sys.stderr)
    for kind, ways in table.items():
        for way, figures in ways.items():
            print(f"{kind:20}{way:12}" + "".join(f"{figures[name]:18.3f}" for name in names), file=sys.stderr)


def _ablate(train: Sequence[Path], test: Sequence[Path]) -> None:
    """Print the recall without each group of features, by the measures of all rows."""
    from assembly.profiles.training.fitting import FEATURE_GROUPS, REPORTED_FIGURES, TRAINED_FEATURES, trained_weights
    from assembly.profiles.training.labelled_questions import load_labelled_questions
    from assembly.profiles.training.recall import mean_recall

    taught, asked = ([one for file in files for one in load_labelled_questions(file)] for files in (train, test))
    for group, gone in {"nothing": (), **FEATURE_GROUPS}.items():
        weights = trained_weights(taught, [name for name in TRAINED_FEATURES if name not in gone])
        for name, value in mean_recall(asked, weights).items():
            if name in REPORTED_FIGURES:
                figure(NAME, f"without_{group}_{name}", value, "share", len(asked))
