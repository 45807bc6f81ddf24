"""Memories by their meaning, among those that a query selects: for pages, which narrow what is searched."""

from functools import partial
from typing import Any

from django.db.models import Q, QuerySet

from memories.directions import Direction, active_space_told, in_active_space
from memories.models import Memory

STANDS = Q(superseded_by=None, retired_because="")


def nearest(rows: QuerySet[Memory], vector: Direction | None, limit: int) -> list[Memory]:
    """The `limit` rows nearest to the vector, each with its `similarity`; superseded and retired ones come last."""
    return in_active_space(vector, partial(_nearest, rows, limit))


def _nearest(rows: QuerySet[Memory], limit: int, vector: Direction | None) -> list[Memory]:
    if vector is None:
        return []
    measured: QuerySet[Any] = rows.annotate(similarity=vector.similarity, space=active_space_told(), holds=STANDS)
    found = list(measured.filter(similarity__isnull=False).order_by("-holds", "-similarity", "id")[:limit])
    if found:
        vector.confirm(found[0].space)
    return found
