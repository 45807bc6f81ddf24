"""Recall tests are run from the pages of a draft, a profile and a rule before these are saved; guards are set here."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from django.views.decorators.vary import vary_on_headers

from assembly.models import StoredRule
from assembly.profiles.services import find_changeable_profile
from assembly.profiles.views import profile_editor_page
from assembly.recall_tests.presentation import report_headline
from assembly.recall_tests.publication import (
    GuardedText,
    find_guarded_text,
    publication_guard_set,
    try_draft,
    try_profile,
    try_rule,
)
from assembly.recall_tests.run import RunReport
from assembly.rules.catalogue import parse_draft_rule
from assembly.rules.edit_views import edit_rule_page, new_rule_page, owner_choices_for
from assembly.rules.editor import RuleEditor, editor_from_post
from assembly.rules.form_fields import field_choices
from assembly.rules.forms import RuleForm
from assembly.rules.services import Owner, owner_scope, rule_for, rule_owner_for
from assembly.simulation.simulate import DRAFT_RULE
from config.http.errors import Invalid, NotFound
from teams.access import principal_of, require_admin
from teams.principal import Action, Principal
from teams.versioned_text.drafts import Draft, drafts_of
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS


def report_context(report: RunReport | None, fault: str = "") -> dict[str, Any]:
    """Return the values of the template `_results.html`: a report, or why there is none."""
    headline = report_headline(report) if report else _("The recall tests cannot be run yet.")
    return {"recall_report": report, "recall_headline": headline, "recall_fault": fault}


@vary_on_headers("HX-Request")
def draft(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show the results of the recall tests on one of the person's drafts. Raises NotFound for those of others."""
    principal = principal_of(request)
    found = _own_draft(principal, id_)
    context = {**report_context(try_draft(principal, found.about, found.content)), "recall_on_load": True}
    template = "_results.html" if request.headers.get("HX-Request") else "draft.html"
    return render(request, f"assembly/recall_tests/{template}", context)


def _own_draft(principal: Principal, id_: UUID) -> Draft:
    found = drafts_of(principal.id).filter(id=id_).first()
    if found is None:
        raise NotFound(_("This draft"))
    return found


@require_POST
def profile(request: HttpRequest, name: str) -> HttpResponse:
    """Show the editor of a profile with the results of the recall tests on the text in it."""
    principal = principal_of(request)
    require_admin(principal)
    row = find_changeable_profile(name)
    text = request.POST.get("content", "")[: MAX_FILE_CHARACTERS + 1].replace("\r\n", "\n")
    found = _attempt(partial(try_profile, principal, name, text))
    based_on = request.POST.get("version", "")
    return profile_editor_page(request, row, panel_status(request, found), text=text, based_on=based_on, **found)


@require_POST
def edited_rule(request: HttpRequest, name: str) -> HttpResponse:
    """Show the editor of a rule with the results of the recall tests on the rule in it."""
    principal = principal_of(request)
    rule: StoredRule = rule_for(principal, name, Action.EDIT)
    editor = editor_from_post(request.POST, field_choices(principal))
    found = _try_edited_rule(principal, editor, rule.owner, rule.name)
    status, based_on = panel_status(request, found), request.POST.get("version", "")
    return edit_rule_page(request, rule, editor, status, based_on=based_on, unsaved=True, **found)


@require_POST
def new_rule(request: HttpRequest) -> HttpResponse:
    """Show the form of a new rule with the results of the recall tests on it."""
    principal = principal_of(request)
    form = RuleForm(request.POST, choices=owner_choices_for(principal))
    editor = editor_from_post(request.POST, field_choices(principal))
    form.is_valid()  # only the owner is needed yet, so other errors are ignored
    if "owner" in form.cleaned_data:
        owner = rule_owner_for(principal, **form.owner_slugs())
        found = _try_edited_rule(principal, editor, owner, form.cleaned_data.get("name") or DRAFT_RULE)
    else:
        found = report_context(None, _("Choose the scope of the rule."))
    return new_rule_page(request, form.unbound_copy(), editor, panel_status(request, found), unsaved=True, **found)


def _try_edited_rule(principal: Principal, editor: RuleEditor, owner: Owner, name: str) -> dict[str, Any]:
    content = editor.content()
    if content is None:
        return report_context(None, _("Some values are invalid: see the errors in the form."))

    def attempt() -> RunReport:
        rule = parse_draft_rule(content, name=name, version=1, scope=owner_scope(owner))
        return try_rule(principal, rule, owner)

    return _attempt(attempt)


def panel_status(request: HttpRequest, context: Mapping[str, Any]) -> int:
    """Return the status of the page: 422 for a text that cannot be tried; 200 for htmx, which ignores errors."""
    return 422 if context["recall_fault"] and not request.headers.get("HX-Request") else 200


def _attempt(attempt: Callable[[], RunReport]) -> dict[str, Any]:
    """Return the values of the template for the report; for a text that cannot be parsed, the error with its line."""
    try:
        return report_context(attempt())
    except Invalid as fault:
        return report_context(None, fault.detail)


@require_POST
def guard(request: HttpRequest) -> HttpResponse:
    """Make recall tests binding for a text, or not any more, and return to the page of the text."""
    principal = principal_of(request)
    about = request.POST.get("about", "")
    text = find_guarded_text(principal, about if about.isprintable() else "", Action.EDIT)
    guarded = "on" in request.POST
    publication_guard_set(text=text, guarded=guarded, principal=principal)
    if guarded:
        messages.success(request, _("This text cannot be published any more if it breaks a recall test."))
    else:
        messages.success(request, _("A failing recall test is only a warning now."))
    return redirect(guarded_text_address(text))


def guarded_text_address(text: GuardedText) -> str:
    """Return the address of the page of a text that can have a guard."""
    if text.agent:
        return reverse("agent_file", args=[text.agent.slug, text.key])
    if text.team:
        return reverse("team_file", args=[text.team.slug, text.key])
    if text.is_profile:
        return reverse("profile_page", args=[text.key])
    return reverse("organisation_file", args=[text.key])
