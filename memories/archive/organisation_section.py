"""The section organisation/ of an archive holds the organisation's files; organisation.json has their titles."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from rest_framework import serializers

from config.http.serializers import Line
from memories.archive.digests import ImportState, state_of, text_digest
from memories.archive.owner_entries import NO_FACTS, TextFacts, text_save
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, ImportUnit, register
from memories.archive.text_section import DocumentSection, load_metadata, text_change, text_entries, with_refusal
from memories.imports.base import readable_name
from teams.models import OrganisationFile
from teams.organisation.models import MAX_TITLE_CHARACTERS
from teams.organisation.services import clean_title, organisation_file_create, organisation_file_rename
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_WORDS
from teams.slugs import MAX_SLUG_CHARACTERS, valid_slug

FILES = "files"
"""The name of the titles in organisation.json."""
_TITLE = Line(max_length=MAX_TITLE_CHARACTERS)


@dataclass(frozen=True, slots=True)
class ExportedTitle:
    """An exported title is that of a file in an archive, with its digest at export; both are empty if there is none."""

    title: str = ""
    mark: str = ""
    facts: TextFacts = NO_FACTS


class OrganisationSection(DocumentSection):
    folder = "organisation"
    ending = ".md"

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        if scope.organisation:
            rows = OrganisationFile.objects.order_by("file_key").defer("content")
            texts = OrganisationFile.objects.order_by("file_key").values_list("file_key", "content").iterator(10)
            metadata = {
                row.file_key: {
                    "title": row.title,
                    "mark": text_digest(row.title),
                    **({} if row.level == DEFAULT_LEVEL else {"sensitivity": row.level.export_word}),
                }
                for row in rows
            }
            yield from text_entries(self.folder, texts, {FILES: metadata}, ending=self.ending)

    def change_of(self, unit: ImportUnit, principal: Principal) -> Callable[[str, str], ImportChange]:
        stored = load_metadata(unit).get(FILES)
        titles: Mapping[str, Any] = stored if isinstance(stored, dict) else {}

        def change(within: str, exported: str) -> ImportChange:
            key = within.removesuffix(self.ending)
            here = OrganisationFile.objects.filter(file_key=key).first()
            return _import_change(unit, within, here, titles.get(key), exported)

        return change

    def save(self, name: str, change: ImportChange, import_context: ImportContext) -> None:
        principal, note = import_context.principal, import_context.note
        title: str = change.item.title
        file = OrganisationFile.objects.filter(file_key=name).first()
        if file is None:
            level = change.item.facts.sensitivity
            organisation_file_create(
                key=name,
                title=title or readable_name(name),
                content=change.after,
                principal=principal,
                note=note,
                sensitivity=DEFAULT_LEVEL if level is None else level,
            )
            return
        facts, author = change.item.facts, principal.author
        saved = text_save(file=file, change=change, facts=facts, author=author, context=import_context)
        if title:
            organisation_file_rename(
                file=saved, title=title, expected_version=saved.version, principal=principal, note=note
            )


def _import_change(
    unit: ImportUnit, within: str, here: OrganisationFile | None, metadata: Any, exported: str
) -> ImportChange:
    change = text_change(unit, within, "organisation file", here, exported)
    try:
        title = _parse_title(metadata)
        if here is None:
            valid_slug(within.removesuffix(OrganisationSection.ending))
    except (ValidationError, serializers.ValidationError) as fault:
        return with_refusal(change, f"Its key or title cannot be used. {_sentence(fault)}")
    if here is None and len(within) > MAX_SLUG_CHARACTERS + len(OrganisationSection.ending):
        return with_refusal(change, f"Its key is too long; use at most {MAX_SLUG_CHARACTERS} characters.")
    change, facts = title.facts.planned(_with_title(change, here, title), here)
    return change if change.state is ImportState.REFUSED else replace(change, item=replace(change.item, facts=facts))


def _with_title(change: ImportChange, here: OrganisationFile | None, title: ExportedTitle) -> ImportChange:
    """Return the change with the title, which may be changed in the archive, here, or on both sides."""
    change = replace(change, item=title)
    if here is None or title.title in {"", here.title}:
        return change
    renamed = state_of(exported=title.mark, incoming=text_digest(title.title), here=text_digest(here.title))
    if change.state is ImportState.SAME:
        return replace(
            change, state=renamed, reason=f"Its text is the same; in the archive its title is “{title.title}”."
        )
    if change.state is ImportState.CHANGED and renamed is ImportState.NEWER:
        return replace(change, item=ExportedTitle(facts=title.facts))  # the new title here stays
    if change.state is ImportState.CHANGED and renamed is ImportState.BOTH:
        return replace(change, state=ImportState.BOTH, reason=f"In the archive its title is “{title.title}”.")
    return change


def _parse_title(metadata: Any) -> ExportedTitle:
    """Return the title in organisation.json for a file. Raises ValidationError for a text that cannot be a title."""
    known = metadata if isinstance(metadata, Mapping) else {}
    title, mark, word = known.get("title", ""), known.get("mark", ""), known.get("sensitivity")
    if word is not None and (not isinstance(word, str) or word not in LEVEL_WORDS):
        raise ValidationError(f"Its sensitivity is none of {', '.join(LEVEL_WORDS)}.")
    exported = DEFAULT_LEVEL if mark else None  # an export names what is not internal
    level = exported if word is None else int(LEVEL_WORDS[word])
    return ExportedTitle(
        clean_title(_TITLE.run_validation(title)) if title else "",
        mark if isinstance(mark, str) else "",
        TextFacts(sensitivity=level),
    )


def _sentence(fault: ValidationError | serializers.ValidationError) -> str:
    if isinstance(fault, ValidationError):
        return " ".join(fault.messages)
    return " ".join(map(str, fault.detail))


register(OrganisationSection())
