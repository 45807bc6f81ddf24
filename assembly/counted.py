"""What texts count, kept with them: a process that sees an agent's texts for the first time looks up their tokens.

To count 16,000 tokens takes about as long as to read and to record them. A process remembers what it counted
(`config.tokens`), so nothing is looked up where it knows most of the texts already.
"""

from collections.abc import Collection, Mapping, Sequence

from assembly.engine.profile import Profile, Shape
from assembly.engine.types import Candidate
from assembly.models import text_hash
from config.http.statements import Statement, rows_of
from config.tokens import Tokenizer

LEAST_CHARACTERS = 500
"""Of a text that is looked up."""
WORTH_CHARACTERS = 16_000
"""Of all of them together: less is counted in the time that it takes, and a log that grows is not kept each time."""
WITH_LEAD: frozenset[Shape] = frozenset({"lines", "turns"})
"""What an item of these begins with stands in its first line: it is counted with that, and never alone."""

FIND = """
SELECT text_sha256, tokens FROM token_counts WHERE tokenizer = %(tokenizer)s AND text_sha256 = ANY(%(texts)s::bytea[])
"""
# Of a text that is not stored, nothing is kept. Of two that keep the same at once, one waits, and neither fails.
KEEP = """
INSERT INTO token_counts (text_sha256, tokenizer, tokens)
    SELECT sha256, %(tokenizer)s, tokens
    FROM unnest(%(texts)s::bytea[], %(tokens)s::integer[]) AS counted (sha256, tokens)
    JOIN stored_texts USING (sha256) ORDER BY sha256
    ON CONFLICT DO NOTHING RETURNING tokens
"""

Uncounted = Mapping[bytes, str]
"""Texts without white space at their end, by the hash of what is stored."""


def counts_learnt(profile: Profile, candidates: Sequence[Candidate], tokenizer: Tokenizer) -> Uncounted:
    """Tell the tokenizer the counts that are kept of the candidates' texts; those that it still has to count."""
    alone = {section.key for section in profile.sections if section.shape not in WITH_LEAD}
    long = {one.text for one in candidates if len(one.text) >= LEAST_CHARACTERS and one.section in alone}
    unknown = {text for text in long if not tokenizer.knows(text.rstrip())}
    if not _worth_it(unknown):
        return {}
    uncounted = {text_hash(text): text.rstrip() for text in unknown}
    for sha256, tokens in rows_of(Statement(FIND, {"tokenizer": tokenizer.name, "texts": [*uncounted]})):
        tokenizer.learn(uncounted.pop(sha256), tokens)
    return uncounted


def counts_kept(uncounted: Uncounted, tokenizer: Tokenizer) -> None:
    """Keep the counts of those of these texts that are counted by now, if they are stored."""
    counted = {sha256: tokenizer.count(text) for sha256, text in uncounted.items() if tokenizer.knows(text)}
    if _worth_it([uncounted[sha256] for sha256 in counted]):
        columns = {"texts": [*counted], "tokens": [*counted.values()]}
        rows_of(Statement(KEEP, {"tokenizer": tokenizer.name, **columns}))


def _worth_it(texts: Collection[str]) -> bool:
    return sum(map(len, texts)) >= WORTH_CHARACTERS
