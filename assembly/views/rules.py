"""The pages of rules: all of them, one of them, a new one, and whether a text is one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.models import StoredRule
from assembly.profiles.tree import MAX_CHARACTERS, line_numbered
from assembly.rule_forms import RuleForm, owner_choices
from assembly.rules.access import may_edit, owner_for, rule_for
from assembly.rules.catalogue import entry_of, fault_of
from assembly.rules.services import rule_create, rule_delete, rule_save
from assembly.views.profile_check import Check
from assembly.views.rule_words import RULE, deeds
from config.http.cursors import next_address, page_of
from config.http.errors import Conflict, Forbidden, Invalid
from teams.access import Action
from teams.forms import TextForm
from teams.principal import Principal
from teams.views.asking import asking


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
    rule = rule_for(asking(request), name)
    entry = entry_of(rule)
    done = deeds(entry.described.rule.then) if entry.described else []
    context = {"entry": entry, "rule": rule, "deeds": done, "may_edit": may_edit(asking(request), rule)}
    return render(request, "assembly/rule.html", context)


def rule_new(request: HttpRequest) -> HttpResponse:
    """A new rule, begun with an example."""
    principal = asking(request)
    choices = owner_choices(principal)
    if not choices:
        raise Forbidden(_("You may not write rules. Ask an admin of one of your teams."))
    if request.method != "POST":
        return _new(request, RuleForm(initial={"content": RULE.example}, choices=choices))
    form = RuleForm(request.POST, choices=choices)
    if form.is_valid() and (rule := _created(form, principal)):
        messages.success(request, _("The rule is there. It counts from the next context on."))
        return redirect("rule_page", name=rule.name)
    return _new(request, form, status=422, check=check_of(request.POST.get("content", "")))


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


@require_POST
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Delete a rule with its history."""
    rule = rule_for(asking(request), name, Action.EDIT)
    rule_delete(rule=rule, principal=asking(request))
    messages.success(request, _("The rule %(name)s is deleted. Contexts in which it counted stay.") % {"name": name})
    return redirect("rule_list")


def check_of(sent: str) -> Check:
    """The check of a text as a browser sent it."""
    text = sent[: MAX_CHARACTERS + 1].replace("\r\n", "\n")
    fault = fault_of(text)
    return Check(fault, line_numbered(text, fault.line) if fault else "")


def _created(form: RuleForm, principal: Principal) -> StoredRule | None:
    """The new rule; None where the form now says what is wrong."""
    name, content = form.cleaned_data["name"], form.cleaned_data["content"]
    owner = owner_for(principal, **form.owner_named())
    try:
        return rule_create(name=name, content=content, owner=owner, principal=principal)
    except Conflict as error:
        form.add_error("name", error.detail)
    except Invalid as error:
        form.add_error(next(iter(error.extra["errors"])), error.detail)
    return None


def _new(request: HttpRequest, form: RuleForm, status: int = 200, **facts: Any) -> HttpResponse:
    return render(request, "assembly/rule_new.html", {"form": form, "guidance": RULE, **facts}, status=status)
