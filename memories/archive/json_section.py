"""A section of an archive with one JSON file per row, which is named by the row's id."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from config.http.errors import Invalid
from config.http.serializers import StrictSerializer
from memories.archive.digests import ImportState
from memories.archive.sections import ImportChange, ImportUnit
from memories.archive.text_section import DocumentSection

MAX_ROW_CHARACTERS = 50_000
"""The most characters of a file."""


def json_text(document: Mapping[str, Any]) -> str:
    """Return the text of a file with this document."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


class JsonSection(DocumentSection):
    """An archive section of rows that belong to agents and teams; each change says whether the principal may."""

    ending = ".json"
    max_files = 2_000
    is_for_admins = False
    what: ClassVar[str]
    """The word for a row, on the page of an import."""

    def load(self, unit: ImportUnit, within: str, serializer: type[StrictSerializer]) -> tuple[UUID, Mapping[str, Any]]:
        """Return the id of the row, and its valid document. Raises Invalid, and UnreadableText."""
        try:
            id_ = UUID(within.removesuffix(self.ending))
            said = json.loads(unit.contents.text(unit.files[within], MAX_ROW_CHARACTERS))
        except (ValueError, RecursionError):
            raise Invalid(
                "file", f"It is no {self.what}: export one to see how its file is named and written."
            ) from None
        checked = serializer(data=said)
        if not checked.is_valid():
            field, errors = next(iter(checked.errors.items()))
            raise Invalid(str(field), f"{field}: {_first(errors)}")
        return id_, checked.validated_data

    def refused(self, unit: ImportUnit, within: str, reason: str) -> ImportChange:
        """Return the change as refused for this reason."""
        return ImportChange(name=unit.path(within), what=self.what, state=ImportState.REFUSED, reason=reason)


def _first(errors: Any) -> str:
    """Return the first message of a serializer's errors, which may be nested."""
    while isinstance(errors, dict | list) and errors:
        errors = next(iter(errors.values())) if isinstance(errors, dict) else errors[0]
    return str(errors)
