"""The pages of rules: all of them, one of them, its switch, and whether a text is one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from assembly.models import StoredRule
from assembly.profiles.tree import MAX_CHARACTERS, line_numbered
from assembly.rule_forms import owner_choices
from assembly.rules.access import may_edit, rule_for
from assembly.rules.catalogue import entry_of, fault_of
from assembly.rules.services import rule_delete, rule_save
from assembly.views.profile_check import Check
from assembly.views.rule_story import story
from assembly.views.rule_words import deeds
from config.http.cursors import next_address, page_of
from teams.access import Action
from teams.forms import TextForm
from teams.principal import Principal
from teams.views.asking import asking
from teams.views.confirmation import Confirmation, confirmation_page
from teams.views.document import Crumb


def rule_list(request: HttpRequest) -> HttpResponse:
    """The rules that somebody may see, the newest first."""
    principal = asking(request)
    rules = StoredRule.objects.visible_to(principal).select_related("agent", "team")
    found, cursor = page_of(rules, request.GET)
    context = {
        "entries": [entry_of(row) for row in found],
        "next": next_address(request.path, request.GET.dict(), cursor),
        "may_write": bool(owner_choices(principal)),
    }
    return render(request, "assembly/rule_list.html", context)


def rule_page(request: HttpRequest, name: str) -> HttpResponse:
    """What a rule does; or, where its text cannot be read any more, why."""
    principal = asking(request)
    return render(request, "assembly/rule.html", facts_of_rule(principal, rule_for(principal, name)))


def facts_of_rule(principal: Principal, rule: StoredRule) -> dict[str, Any]:
    """What the page of a rule shows."""
    entry = entry_of(rule)
    facts = {"entry": entry, "rule": rule, "may_edit": may_edit(principal, rule)}
    if entry.described:
        stated = entry.described.rule
        facts |= {"parts": story(stated.when), "deeds": deeds(stated.then)}
    return facts


@require_POST
def rule_check(request: HttpRequest) -> HttpResponse:
    """The panel that says whether the text in the form is a rule; nothing is stored."""
    check = check_of(request.POST.get("content", ""))
    return render(request, "assembly/_rule_check.html", {"check": check})


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Switch a rule on or off. Raises StaleVersion if the page did not show the newest."""
    rule = rule_for(asking(request), name, Action.EDIT)
    form = TextForm({"version": request.POST.get("version"), "content": ""}, stored=rule)
    if form.is_valid():
        enabled, expected = "on" in request.POST, form.cleaned_data["version"]
        rule_save(
            rule=rule, content=rule.content, enabled=enabled, expected_version=expected, principal=asking(request)
        )
        messages.success(request, _("The rule is on.") if enabled else _("The rule is off."))
    return redirect("rule_page", name=name)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask whether a rule shall go with its history, and delete it."""
    rule = rule_for(asking(request), name, Action.EDIT)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the rule %(name)s?") % {"name": name},
                consequences=[
                    _("All its versions go with it. Contexts in which it counted stay. To pause it, switch it off.")
                ],
                button=_("Delete the rule for good"),
                back=reverse("rule_page", args=[name]),
                crumbs=[Crumb(_("Rules"), reverse("rule_list"))],
            ),
        )
    rule_delete(rule=rule, principal=asking(request))
    messages.success(request, _("The rule %(name)s is deleted. Contexts in which it counted stay.") % {"name": name})
    return redirect("rule_list")


def check_of(sent: str) -> Check:
    """The check of a text as a browser sent it."""
    text = sent[: MAX_CHARACTERS + 1].replace("\r\n", "\n")
    fault = fault_of(text)
    return Check(fault, line_numbered(text, fault.line) if fault else "")
