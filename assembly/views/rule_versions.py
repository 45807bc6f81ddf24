"""The pages of a rule's versions: all of them, one of them, restore."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.models import StoredRule
from assembly.rules.access import may_edit, rule_for
from assembly.rules.services import rule_save
from assembly.views.rule_words import RULE
from teams.access import Action
from teams.views import comparing, restoring
from teams.views import history as document_history
from teams.views.asking import asking
from teams.views.document import Crumb, Document


def history(request: HttpRequest, name: str) -> HttpResponse:
    """All versions of a rule, newest first."""
    return document_history.history(request, _document(request, rule_for(asking(request), name)))


def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """One version of a rule, as it was written."""
    return document_history.version(request, _document(request, rule_for(asking(request), name)), number)


def compare(request: HttpRequest, name: str) -> HttpResponse:
    """Two versions of a rule."""
    return comparing.compare(request, _document(request, rule_for(asking(request), name)))


@require_POST
def restore(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Bring back an old version of a rule, if it can still be read; it stays on or off as it is."""
    rule = rule_for(asking(request), name, Action.EDIT)
    shown = _document(request, rule)
    return restoring.restore(
        request, shown, number, lambda content, expected, note: _save(request, rule, content, expected, note)
    )


def _save(request: HttpRequest, rule: StoredRule, content: str, expected: int, note: str) -> StoredRule:
    principal = asking(request)
    return rule_save(
        rule=rule, content=content, enabled=rule.enabled, expected_version=expected, principal=principal, note=note
    )


def _document(request: HttpRequest, rule: StoredRule) -> Document:
    address = reverse("rule_page", args=[rule.name])
    return Document(
        file=rule,
        guidance=RULE,
        key=rule.name,
        heading=_("Rule %(name)s") % {"name": rule.name},
        crumbs=(Crumb(_("Rules"), reverse("rule_list")), Crumb(rule.name, address)),
        readers="",
        edit_address=reverse("rule_edit", args=[rule.name]),
        history_address=reverse("rule_history", args=[rule.name]),
        may_edit=may_edit(asking(request), rule),
        is_markdown=False,
    )
