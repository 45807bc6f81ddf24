"""Subjects are found by a part of their name, or by an identifier in any spelling of it."""

from django.db.models import Q, QuerySet

from privacy.models import IdentifierKind, Subject
from privacy.subjects.spellings import normalised_identifier

MAX_FOUND = 100
"""The most subjects that a search returns, by name."""


def subjects_found(asked: str) -> QuerySet[Subject]:
    """Return the subjects whose name has the words, or one of whose identifiers is the value."""
    words = " ".join(asked.split())
    forms = {(kind, normalised_identifier(kind, words)) for kind in IdentifierKind.values}
    condition = Q(name__icontains=words)
    for kind, normalised in forms:
        if normalised:
            condition |= Q(identifiers__kind=kind, identifiers__normalised=normalised)
    matching = Subject.objects.filter(condition).values("id")
    return Subject.objects.filter(id__in=matching).order_by("name", "id")[:MAX_FOUND]
