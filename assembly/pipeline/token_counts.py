"""Token counts of texts are stored in the database, so that a new process need not count known texts again.

Counting 16,000 tokens takes about as long as reading and recording these. A process caches its counts
(`assembly.engine.tokenizers`), so nothing is looked up if it knows most of the texts already.

A count is of the text as a context shows it. If that differs from the stored text, as with shifted headings, the count
is stored under the tokenizer's name with the engine's version and the section's treatment of the text. Counts stored
before this distinction existed are valid for texts shown as stored, and are not used for others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from assembly.engine.assemble import profile_for_version
from assembly.engine.profile import Profile, Section, Shape
from assembly.engine.rendering import render_item
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import ENGINE_VERSION, Candidate
from assembly.models import text_hash
from config.db.statements import Statement, run_statement

MIN_CHARACTERS = 500
"""Least characters of a text whose count is looked up."""
MIN_TOTAL_CHARACTERS = 16_000
"""Least characters of all such texts together: fewer are counted as fast, and a growing log is not stored each time."""
SHAPES_WITH_LEAD: frozenset[Shape] = frozenset({"lines", "turns"})
"""Shapes whose items begin with a lead in their first line, with which the text is counted, never alone."""

FIND_SQL = """
SELECT text_sha256, tokenizer, tokens FROM token_counts JOIN
    unnest(%(texts)b::bytea[], %(tokenizers)s::text[]) AS sought (sha256, name)
    ON text_sha256 = sought.sha256 AND tokenizer = sought.name
"""
# Only stored texts get a count. Of two transactions that store the same count at once, one waits, and neither fails.
STORE_SQL = """
INSERT INTO token_counts (text_sha256, tokenizer, tokens)
    SELECT sha256, name, tokens
    FROM unnest(%(texts)s::bytea[], %(tokenizers)s::text[], %(tokens)s::integer[]) AS counted (sha256, name, tokens)
    JOIN stored_texts USING (sha256) ORDER BY sha256, name
    ON CONFLICT DO NOTHING RETURNING tokens
"""

TokenCountKey = tuple[bytes, str]
"""The hash of a stored text, and the name under which its count is stored."""
Uncounted = Mapping[TokenCountKey, str]
"""Texts as contexts show them, still to be counted, by the keys of their counts."""


def load_token_counts(profile: Profile, candidates: Sequence[Candidate], tokenizer: Tokenizer) -> Uncounted:
    """Load stored token counts of the candidates' texts into the tokenizer; return the texts without a count."""
    rendered = profile_for_version(profile, ENGINE_VERSION).sections
    alone = {section.key: section for section in rendered if section.shape not in SHAPES_WITH_LEAD}
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
    """Store the counts of those of the given texts that the tokenizer has counted by now, if the texts are stored."""
    counted = {key: tokenizer.count(body) for key, body in uncounted.items() if tokenizer.knows(body)}
    if _is_worth_storing([uncounted[key] for key in counted]):
        run_statement(Statement(STORE_SQL, {**_columns(counted), "tokens": [*counted.values()]}))


def _count_name(tokenizer: Tokenizer, section: Section, *, is_edited: bool) -> str:
    """Return the name under which a count is stored: the tokenizer's name, with the treatment of an edited text."""
    form = tokenizer.name, str(ENGINE_VERSION), section.treatment, section.delimit
    return "/".join(form) if is_edited else tokenizer.name


def _columns(keys: Iterable[TokenCountKey]) -> dict[str, list[bytes] | list[str]]:
    found = list(keys)
    return {"texts": [sha256 for sha256, _ in found], "tokenizers": [name for _, name in found]}


def _is_worth_storing(texts: Collection[str]) -> bool:
    return sum(map(len, texts)) >= MIN_TOTAL_CHARACTERS
