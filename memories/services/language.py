"""The languages of memories: they are found by stop words as memories are saved, and words are searched for in them."""

from collections import Counter
from collections.abc import Sequence

from django.contrib.postgres.search import SearchQuery
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from memories.languages import DEFAULT, detected_language
from memories.models import Memory

NEWEST = 50
"""The languages of so many of an owner's memories tell which one prevails."""


def give_languages(memories: Sequence[Memory], owned: QuerySet[Memory]) -> None:
    """Set the language of each memory by its text. Short ones that tell none have the one that prevails among the
    owner's newest and these.
    """
    found = [detected_language(memory.text) for memory in memories]
    prevailing = None if all(found) else _prevailing(owned, [language for language in found if language])
    for memory, language in zip(memories, found, strict=True):
        memory.language = language or prevailing or DEFAULT


def _prevailing(owned: QuerySet[Memory], others: Sequence[str]) -> str:
    newest = owned.order_by(Coalesce("occurred_at", "created").desc()).values_list("language", flat=True)[:NEWEST]
    counted = Counter([*newest, *others])
    return max(counted, key=counted.__getitem__, default=DEFAULT)


def words_in_any_language(words: str, owned: QuerySet[Memory]) -> SearchQuery:
    """Return a query for the words, as people type them into a search box, in each language of the owner's memories."""
    query = SearchQuery(words, config=DEFAULT, search_type="websearch")
    for language in owned.exclude(language=DEFAULT).order_by().values_list("language", flat=True).distinct():
        query |= SearchQuery(words, config=language, search_type="websearch")
    return query
