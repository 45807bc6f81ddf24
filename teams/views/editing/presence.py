"""Who else is at this text, and what they published meanwhile: asked by every open editor now and then."""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from teams.presence import others_editing, presence_end, presence_note
from teams.templatetags.words import by
from teams.views.editing.desk import Desk


def here(desk: Desk) -> HttpResponse:
    """The person's editor is still open."""
    presence_note(person_id=desk.person, about=desk.about)
    return JsonResponse(news(desk))


def leave(desk: Desk) -> HttpResponse:
    """The person closed the editor."""
    presence_end(person_id=desk.person, about=desk.about)
    return HttpResponse(status=204)


def news(desk: Desk) -> dict[str, Any]:
    """What an open editor should know of others: who is there, and the newest version with its author."""
    return {
        "others": _said(others_editing(desk.person, desk.about)),
        "published": desk.published,
        "newer": _("%(name)s published version %(version)s while you were writing.")
        % {"name": by(desk.document.file), "version": desk.published},
    }


def _said(names: list[str]) -> str:
    """Tim and Edda are editing this text; nothing where nobody is."""
    if not names:
        return ""
    listed = names[0] if len(names) == 1 else _("%(some)s and %(last)s") % _listed(names)
    return ngettext("%(names)s is editing this text, too.", "%(names)s are editing this text, too.", len(names)) % {
        "names": listed
    }


def _listed(names: list[str]) -> dict[str, str]:
    return {"some": ", ".join(names[:-1]), "last": names[-1]}
