"""The record of a context as the API tells it, to read and to take away."""

import json
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.utils.encoders import JSONEncoder

from assembly.api.documents import assembly_document, decision_document
from assembly.cache import Answer
from assembly.recorded import Recorded
from assembly.replay import content_of
from assembly.views.context_page import told_for
from config.http.rendering import OPTIONS
from teams.views.asking import asking

SHOWN = 60_000  # characters of the document that its page shows


def record(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The document, indented; of a long one the beginning."""
    told = told_for(asking(request), id_)
    text = pretty(document_of(told))
    facts = {
        "assembly": told.assembly,
        "text": text[:SHOWN],
        "characters": len(text),
        "more": max(0, len(text) - SHOWN),
        "decisions": len(told.decisions),
    }
    return render(request, "assembly/context_record.html", facts)


def record_file(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The whole document as a file."""
    told = told_for(asking(request), id_)
    name = f"{told.assembly.agent_slug}-{told.assembly.created:%Y-%m-%d-%H%M%S}.json"
    return HttpResponse(
        pretty(document_of(told)).encode(),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def document_of(told: Recorded) -> dict[str, Any]:
    """The assembly as the API gives it, with all its decisions. Raises RecordDamaged."""
    sections = {section.key: section for section in told.inputs.profile.sections}
    decisions = [decision_document(one, place, sections[one.section]) for place, one in enumerate(told.decisions)]
    return {**assembly_document(Answer(told.assembly, content_of(told), told.decisions)), "decisions": decisions}


def pretty(document: dict[str, Any]) -> str:
    """As JSON that people can read, with each value written as the API writes it."""
    try:
        return orjson.dumps(document, default=JSONEncoder().default, option=OPTIONS | orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:  # of whole numbers beyond 64 bits
        return json.dumps(document, cls=JSONEncoder, indent=2, ensure_ascii=False)
