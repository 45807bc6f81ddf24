"""Profiles as JSON documents, and pages of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from assembly.api.profile_serializers import ProfileSerializer, ProfileSummarySerializer
from assembly.engine.flat import flat
from assembly.profiles import Entry
from config.http.cursors import limit_of
from config.http.errors import Invalid

PLAIN = ("budget", "similarity_threshold", "depth_limit", "over_budget", "fill", "cut_at", "quality_min")
"""What the document shows of a profile as it is."""


def summary_document(entry: Entry) -> dict[str, Any]:
    """What lists show of a profile."""
    return dict(ProfileSummarySerializer(_summary(entry)).data)


def profile_document(entry: Entry) -> dict[str, Any]:
    """A profile whole: its text, and what the text says."""
    return dict(ProfileSerializer({**_summary(entry), "content": entry.row.content, **_parsed(entry)}).data)


def entries_page(entries: Sequence[Entry], query: Mapping[str, str]) -> tuple[Sequence[Entry], str]:
    """A page of the entries, and the cursor of the next: the name after which it begins ("": there is none).

    Raises Invalid for a limit out of range, and a cursor that no page gave.
    """
    limit, cursor = limit_of(query.get("limit", "")), query.get("cursor", "")
    names = [entry.name for entry in entries]
    if cursor and cursor not in names:
        raise Invalid("cursor", "Use the cursor of `next` as it came, or leave it out to start anew.")
    following = entries[names.index(cursor) + 1 :] if cursor else entries
    return following[:limit], following[limit - 1].name if len(following) > limit else ""


def _summary(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "version": entry.version,
        "description": entry.description,
        "shipped": entry.shipped,
        "editable": entry.editable,
        "fault": entry.fault.detail if entry.fault else None,
        "updated_at": entry.row.updated_at,
        "updated_by": entry.row.updated_by,
        "editor": entry.row.editor_name,
    }


def _parsed(entry: Entry) -> dict[str, Any]:
    if entry.described is None:
        return {**dict.fromkeys(PLAIN), "weights": None, "sections": []}
    profile = entry.described.profile
    return {
        **{name: getattr(profile, name) for name in PLAIN},
        "weights": asdict(profile.weights),
        "sections": [
            {**flat(section), "heading": section.label, "ranker": section.ranker_name} for section in profile.sections
        ],
    }
