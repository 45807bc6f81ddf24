"""The pages of a rule's text: editor, history, one version, restore."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.models import StoredRule
from assembly.rules.access import may_edit, rule_for
from assembly.rules.services import rule_save
from assembly.views.rule_words import RULE
from assembly.views.rules import check_of
from config.http.errors import Invalid, NotFound
from teams.access import Action
from teams.files import StaleVersion
from teams.forms import TextForm
from teams.views import document
from teams.views.asking import asking
from teams.views.document import Crumb, Document


def edit(request: HttpRequest, name: str) -> HttpResponse:
    """The editor: what is typed stays on the page until it is saved, whatever is wrong with it."""
    rule = rule_for(asking(request), name, Action.EDIT)
    if request.method != "POST":
        return _editor(request, rule, text=rule.content, based_on=rule.version)
    form = TextForm(request.POST, stored=rule)
    if not form.is_valid():
        reasons = map(str, form.errors.get("content", [_("This page was incomplete.")]))
        return _refused(request, rule, " ".join(reasons))
    content, based_on = form.cleaned_data["content"], form.cleaned_data["version"]
    try:
        saved = _save(request, rule, content, based_on)
    except StaleVersion as stale:
        newest = stale.current
        return _editor(request, rule, text=content, based_on=newest.version, theirs=newest, status=stale.status)
    except Invalid as fault:
        return _refused(request, rule, fault.detail, based_on=based_on)
    _tell(request, saved, based_on)
    return redirect("rule_page", name=name)


def history(request: HttpRequest, name: str) -> HttpResponse:
    """All versions of a rule, newest first."""
    return document.history(request, _document(request, rule_for(asking(request), name)))


def version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """One version of a rule, as it was written."""
    rule = rule_for(asking(request), name)
    found = rule.versions.filter(version=number).first() if number < 2**31 else None
    if found is None:
        raise NotFound(_("Version %(number)s") % {"number": number})
    context = {"document": _document(request, rule), "version": found, "is_current": number == rule.version}
    return render(request, "assembly/profile_version.html", context)


@require_POST
def restore(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Bring back an old version of a rule, if it can still be read; it stays on or off as it is."""
    rule = rule_for(asking(request), name, Action.EDIT)
    shown = _document(request, rule)
    return document.restore(request, shown, number, lambda content, expected: _save(request, rule, content, expected))


def _save(request: HttpRequest, rule: StoredRule, content: str, expected: int) -> StoredRule:
    return rule_save(
        rule=rule, content=content, enabled=rule.enabled, expected_version=expected, principal=asking(request)
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
    )


def _refused(request: HttpRequest, rule: StoredRule, fault: str, based_on: int | None = None) -> HttpResponse:
    sent = request.POST.get("content", "").replace("\r\n", "\n")
    based_on = rule.version if based_on is None else based_on
    return _editor(request, rule, text=sent, based_on=based_on, fault=fault, check=check_of(sent), status=422)


def _editor(request: HttpRequest, rule: StoredRule, status: int = 200, **facts: Any) -> HttpResponse:
    context = {"row": rule, "guidance": RULE, **facts}
    return render(request, "assembly/rule_edit.html", context, status=status)


def _tell(request: HttpRequest, saved: StoredRule, based_on: int) -> None:
    if saved.version == based_on:
        messages.info(request, _("Nothing had changed, so there is no new version."))
    else:
        messages.success(request, _("Saved as version %(version)s.") % {"version": saved.version})
