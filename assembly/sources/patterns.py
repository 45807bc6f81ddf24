"""This source returns patterns: practices that have worked before in similar cases."""

from collections.abc import Sequence

from assembly.engine.item_formats import format_pattern
from assembly.engine.profile import Section
from assembly.engine.query_signals import possible_names
from assembly.engine.scoring import candidate_measures, recency_score, success_rate
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, candidates_for, origin_of, pattern_labels
from memories.search.pattern_matches import MatchingPattern, matching_patterns

LIMIT = 20


def patterns(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return patterns that name words of the query, its intent, or the type of an entity that it mentions."""
    limit = gather_context.row_limit(LIMIT, sections)
    words = {*gather_context.signals.keywords, *possible_names(gather_context.topic)}
    types = {mention.type for mention in gather_context.mentioned}
    found = matching_patterns(
        agent=gather_context.agent, words=words, intent=gather_context.signals.intent, entity_types=types, limit=limit
    )

    def candidate(section: Section, pattern: MatchingPattern) -> Candidate:
        return _candidate(gather_context, section, pattern, words, types)

    return candidates_for(sections, found, limit, candidate)


def _candidate(
    gather_context: GatherContext, section: Section, pattern: MatchingPattern, words: set[str], types: set[str]
) -> Candidate:
    """Return the pattern as a candidate; its success rate is its score and its credibility."""
    matches = {
        "keyword_matches": len(words & {keyword.lower() for keyword in pattern.keywords}),
        "intent_match": int(gather_context.signals.intent in pattern.intents),
        "type_matches": len(types & set(pattern.entity_types)),
    }
    conditions = sum(map(bool, (pattern.keywords, pattern.intents, pattern.entity_types)))
    rate = success_rate(pattern.successes, pattern.applications)
    return Candidate(
        ref=pattern.ref,
        section=section.key,
        text=format_pattern(
            name=pattern.name,
            guidance=pattern.guidance,
            successes=pattern.successes,
            applications=pattern.applications,
        ),
        kind="pattern",
        occurred_at=pattern.updated,
        score=rate,
        measures=candidate_measures(
            recency=recency_score(gather_context.age(pattern.updated)),
            relevance=sum(map(bool, matches.values())) / conditions,
            credibility=rate,
            successes=pattern.successes,
            applications=pattern.applications,
            **matches,
        ),
        labels=pattern_labels(pattern.keywords),
        origin=origin_of(pattern),
        sensitivity=pattern.sensitivity,
    )
