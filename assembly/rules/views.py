"""The pages of rules: the list, a rule, its switch, the validation of a text, and its versions."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from assembly.models import StoredRule
from assembly.profiles.document_pages import DocumentPages
from assembly.rules.catalogue import entry_of_row, rule_fault
from assembly.rules.forms import owner_choices
from assembly.rules.presentation import RULE_GUIDANCE, action_lines, condition_sentences
from assembly.rules.services import may_edit, rule_delete, rule_for, rule_save
from config.http.sorting import SortableColumn, sorted_by_request
from teams.access import principal_of
from teams.forms import TextForm
from teams.principal import Action, Principal
from teams.versioned_text.presentation import Crumb
from teams.views.confirmation import Confirmation, confirmation_page

PER_PAGE = 60
COLUMNS = (
    SortableColumn("name", gettext_lazy("Rule"), fields=("name",)),
    SortableColumn("scope", gettext_lazy("Scope"), fields=("team__name", "agent__name", "name")),
    SortableColumn("status", gettext_lazy("Status"), fields=("enabled", "name"), is_ascending=False),
    SortableColumn("version", gettext_lazy("Version"), "num minor", fields=("version", "name"), is_ascending=False),
    SortableColumn("updated", gettext_lazy("Updated"), "num minor", fields=("updated_at",), is_ascending=False),
)


def rule_list(request: HttpRequest) -> HttpResponse:
    """Show the rules that the person may see, the last updated first unless another column sorts them."""
    principal = principal_of(request)
    rules = StoredRule.objects.visible_to(principal).select_related("agent", "team")
    found, heads = sorted_by_request(rules, request, COLUMNS, "-updated")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "entries": [entry_of_row(row) for row in page],
        "heads": heads,
        "may_write": bool(owner_choices(principal)),
    }
    return render(request, "assembly/rules/list.html", context)


def rule_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a rule, or why its text cannot be parsed any more."""
    principal = principal_of(request)
    return render(request, "assembly/rules/rule.html", rule_page_context(principal, rule_for(principal, name)))


def rule_page_context(principal: Principal, rule: StoredRule) -> dict[str, Any]:
    """Return what the page of a rule shows."""
    entry = entry_of_row(rule)
    facts = {"entry": entry, "rule": rule, "may_edit": may_edit(principal, rule)}
    if entry.described:
        stated = entry.described.rule
        facts |= {"parts": condition_sentences(stated.when), "deeds": action_lines(stated.then)}
    return facts


@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Enable or disable a rule. Raises StaleVersion if the page did not show the newest version."""
    rule = rule_for(principal_of(request), name, Action.EDIT)
    form = TextForm({"version": request.POST.get("version"), "content": ""}, stored=rule)
    if form.is_valid():
        enabled, expected = "on" in request.POST, form.cleaned_data["version"]
        rule_save(
            rule=rule, content=rule.content, enabled=enabled, expected_version=expected, principal=principal_of(request)
        )
        messages.success(request, _("Rule enabled.") if enabled else _("Rule disabled."))
    return redirect("rule_page", name=name)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, name: str) -> HttpResponse:
    """Ask for confirmation, and delete a rule with its history."""
    rule = rule_for(principal_of(request), name, Action.EDIT)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the rule %(name)s?") % {"name": name},
                consequences=[
                    _("All its versions are deleted. Recorded contexts are not changed. To pause it, disable it.")
                ],
                button=_("Delete permanently"),
                back=reverse("rule_page", args=[name]),
                crumbs=[Crumb(_("Context rules"), reverse("rule_list"))],
            ),
        )
    rule_delete(rule=rule, principal=principal_of(request))
    messages.success(request, _("Rule %(name)s deleted. Recorded contexts are not changed.") % {"name": name})
    return redirect("rule_list")


@require_POST
def restore(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Restore a version of a rule, if its text is still valid; the rule remains enabled or disabled."""
    principal = principal_of(request)
    rule = rule_for(principal, name, Action.EDIT)
    return rule_pages.restore(request, rule, number, partial(_save_text, principal, rule))


def _save_text(principal: Principal, rule: StoredRule, content: str, expected: int, note: str) -> StoredRule:
    """Save a rule's text; the rule remains enabled or disabled."""
    return rule_save(
        rule=rule, content=content, enabled=rule.enabled, expected_version=expected, principal=principal, note=note
    )


rule_pages = DocumentPages(
    kind="rule",
    plural=gettext_lazy("Context rules"),
    heading=gettext_lazy("Rule %(name)s"),
    guidance=RULE_GUIDANCE,
    fault_of=rule_fault,
    find=rule_for,
    may_edit=may_edit,
)
"""The validation of a text, and the pages of versions."""
