"""What texts count, kept with them: a process that sees an agent's texts for the first time looks up their tokens.

To count 16,000 tokens takes about as long as to read and to record them. A process remembers what it counted
(`assembly.engine.tokenizers`), so nothing is looked up where it knows most of the texts already.

A count is of the text as a context shows it. Where that differs from what is stored, as where headings are shifted, the
count stands under the tokenizer's name with the engine's version and what was done to the text; counts that were stored
before there was such a difference stay true of texts that are shown as stored, and are not looked up for others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from assembly.engine.profile import Profile, Section, Shape
from assembly.engine.rendering import render_item
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import ENGINE_VERSION, Candidate
from assembly.models import text_hash
from config.db.statements import Statement, run_statement

MIN_CHARACTERS = 500
"""Of a text that is looked up."""
MIN_TOTAL_CHARACTERS = 16_000
"""Of all of them together: less is counted in the time that it takes, and a log that grows is not kept each time."""
SHAPES_WITH_LEAD: frozenset[Shape] = frozenset({"lines", "turns"})
"""What an item of these begins with stands in its first line: it is counted with that, and never alone."""

FIND_SQL = """
SELECT text_sha256, tokenizer, tokens FROM token_counts JOIN
    unnest(%(texts)s::bytea[], %(tokenizers)s::text[]) AS sought (sha256, name)
    ON text_sha256 = sought.sha256 AND tokenizer = sought.name
"""
# Of a text that is not stored, nothing is kept. Of two that keep the same at once, one waits, and neither fails.
STORE_SQL = """
INSERT INTO token_counts (text_sha256, tokenizer, tokens)
    SELECT sha256, name, tokens
    FROM unnest(%(texts)s::bytea[], %(tokenizers)s::text[], %(tokens)s::integer[]) AS counted (sha256, name, tokens)
    JOIN stored_texts USING (sha256) ORDER BY sha256, name
    ON CONFLICT DO NOTHING RETURNING tokens
"""

TokenCountKey = tuple[bytes, str]
"""The hash of a stored text, and the name under which it is counted."""
Uncounted = Mapping[TokenCountKey, str]
"""Texts as contexts show them."""


def load_token_counts(profile: Profile, candidates: Sequence[Candidate], tokenizer: Tokenizer) -> Uncounted:
    """Tell the tokenizer the counts that are kept of the candidates' texts; those that it still has to count."""
    alone = {section.key: section for section in profile.sections if section.shape not in SHAPES_WITH_LEAD}
    long = [one for one in candidates if len(one.text) >= MIN_CHARACTERS and one.section in alone]
    shown = {(one.text, section): render_item(section, one).body for one in long for section in [alone[one.section]]}
    unknown = {(text, section): body for (text, section), body in shown.items() if not tokenizer.knows(body)}
    if not _is_worth_storing({*unknown.values()}):
        return {}
    uncounted = {
        (text_hash(text), _count_name(tokenizer, section, is_edited=body != text.rstrip())): body
        for (text, section), body in unknown.items()
    }
    for sha256, name, tokens in run_statement(Statement(FIND_SQL, _columns(uncounted))):
        tokenizer.learn(uncounted.pop((sha256, name)), tokens)
    return uncounted


def store_token_counts(uncounted: Uncounted, tokenizer: Tokenizer) -> None:
    """Keep the counts of those of these texts that are counted by now, if they are stored."""
    counted = {key: tokenizer.count(body) for key, body in uncounted.items() if tokenizer.knows(body)}
    if _is_worth_storing([uncounted[key] for key in counted]):
        run_statement(Statement(STORE_SQL, {**_columns(counted), "tokens": [*counted.values()]}))


def _count_name(tokenizer: Tokenizer, section: Section, *, is_edited: bool) -> str:
    """The name under which a text is counted: the tokenizer's own for a text that is shown as it is stored."""
    return f"{tokenizer.name}/{ENGINE_VERSION}/{section.treatment}" if is_edited else tokenizer.name


def _columns(keys: Iterable[TokenCountKey]) -> dict[str, list[bytes] | list[str]]:
    found = list(keys)
    return {"texts": [sha256 for sha256, _ in found], "tokenizers": [name for _, name in found]}


def _is_worth_storing(texts: Collection[str]) -> bool:
    return sum(map(len, texts)) >= MIN_TOTAL_CHARACTERS
