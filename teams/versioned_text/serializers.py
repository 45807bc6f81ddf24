"""These serializers return the difference of two versions as JSON, for files and daily logs."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from config.http.errors import Invalid, NotFound
from teams.text_diff.difference import DiffPart, diff_texts
from teams.versioned_text.versioned_file import VersionedFile

WITH = OpenApiParameter("with", int, description="The version to compare with; default: the newest.")
MAX_VERSION = 2**31 - 1


class RunSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=["equal", "removed", "added"])
    text = serializers.CharField()


class HunkSerializer(serializers.Serializer[Any]):
    old_line = serializers.IntegerField(help_text="The number of its first line in the version `from`, from 1.")
    new_line = serializers.IntegerField(help_text="The number of its first line in the version `to`, from 1.")
    runs = RunSerializer(
        many=True, help_text="Whole lines: equal and removed runs are the old ones, equal and added the new ones."
    )


class ComparisonSerializer(serializers.Serializer[Any]):
    """The difference of two versions. Its field `from`, a keyword of Python, is added below."""

    to = serializers.IntegerField()
    changes = serializers.IntegerField(help_text="How many places changed.")
    words_added = serializers.IntegerField()
    words_removed = serializers.IntegerField()
    hunks = HunkSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.IntegerField(), **super().get_fields()}


def comparison_document(file: VersionedFile, version: int, other: str) -> dict[str, Any]:
    """Return the difference between `version` and the version that `other` names.

    Raises NotFound; Invalid if it is no number.
    """
    target = _number(other) if other else file.version
    known = [number for number in (version, target) if number <= MAX_VERSION]
    texts = dict(file.versions.filter(version__in=known).values_list("version", "content"))
    for number in (version, target):
        if number not in texts:
            raise NotFound(f"Version {number}")
    found = diff_texts(texts[version], texts[target])
    return {
        "from": version,
        "to": target,
        "changes": len(found.changes),
        "words_added": found.words_added,
        "words_removed": found.words_removed,
        "hunks": [hunk_document(part) for part in found.changes],
    }


def _number(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= len(str(MAX_VERSION)) and 1 <= int(text) <= MAX_VERSION:
        return int(text)
    raise Invalid("with", "Use the number of a version, from 1.")


def hunk_document(part: DiffPart) -> dict[str, Any]:
    """Return a changed part with the numbers of its first lines."""
    runs = [{"kind": run.kind, "text": run.text} for run in part.runs]
    return {"old_line": part.old_line, "new_line": part.new_line, "runs": runs}
