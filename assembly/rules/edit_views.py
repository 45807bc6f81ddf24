"""These pages create and edit rules. An invalid text remains on the page until it is saved."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from assembly.models import StoredRule
from assembly.rules.editor import (
    EditorAction,
    RuleEditor,
    apply_action,
    draft_rule,
    editor_for,
    editor_from_post,
    with_stored_layout,
)
from assembly.rules.form_fields import field_choices
from assembly.rules.forms import RuleForm, owner_choices
from assembly.rules.presentation import GUIDANCE_NOTES, RULE_GUIDANCE
from assembly.rules.services import rule_create, rule_for, rule_owner_for, rule_save
from assembly.rules.views import rule_pages
from config.http.errors import Conflict, Forbidden, Invalid
from teams.access import principal_of
from teams.forms import TextForm
from teams.principal import Action, Principal
from teams.versioned_text.presentation import add_save_message
from teams.versioned_text.versioned_file import StaleVersion

MAX_DIGITS = 4


def new(request: HttpRequest) -> HttpResponse:
    """Create a rule by a form, or by a text that starts as an example."""
    principal = principal_of(request)
    choices, names = owner_choices_for(principal), field_choices(principal)
    if request.method != "POST":
        editor = editor_for(draft_rule(request.GET), names, as_text=_wants_text(request))
        return new_rule_page(request, RuleForm(initial={"owner": request.GET.get("owner")}, choices=choices), editor)
    form, editor = RuleForm(request.POST, choices=choices), editor_from_post(request.POST, names)
    if (turn := editor_action(request)) is not None:
        after = apply_action(editor, turn, names)
        return new_rule_page(request, form.unbound_copy(), after, unsaved=True, added=turn == "add")
    return _create_rule(request, form, editor)


def edit(request: HttpRequest, name: str) -> HttpResponse:
    """Save the next version of a rule, based on the version that the page showed."""
    principal = principal_of(request)
    rule, names = rule_for(principal, name, Action.EDIT), field_choices(principal)
    if request.method != "POST":
        return edit_rule_page(request, rule, editor_for(rule.content, names, as_text=_wants_text(request)))
    editor = editor_from_post(request.POST, names)
    based_on = request.POST.get("version", "")
    if (turn := editor_action(request)) is not None:
        after = apply_action(editor, turn, names)
        return edit_rule_page(request, rule, after, based_on=based_on, unsaved=True, added=turn == "add")
    return _save_rule(request, rule, editor)


def owner_choices_for(principal: Principal) -> list[tuple[Any, Any]]:
    """Return for whom the person may write rules. Raises Forbidden if there is no one."""
    choices = owner_choices(principal)
    if not choices:
        raise Forbidden(_("You may not edit context rules. Ask an admin of one of your teams."))
    return choices


def editor_action(request: HttpRequest) -> EditorAction | None:
    """Return the button that changed the editor without saving, if one was pressed."""
    match request.POST.get("do"):
        case "add" | "switch" as turn:
            return turn
        case str(turn) if (number := turn.removeprefix("remove-")).isdecimal() and len(number) < MAX_DIGITS:
            return int(number)
    return None


def _wants_text(request: HttpRequest) -> bool:
    return request.GET.get("as") == "text"


def _create_rule(request: HttpRequest, form: RuleForm, editor: RuleEditor) -> HttpResponse:
    text = TextForm({"version": 0, "content": editor.content()}, stored=StoredRule())
    can_be_made = all([form.is_valid(), editor.content() is not None, text.is_valid()])
    fault = _form_fault(text)
    if can_be_made:
        principal = principal_of(request)
        owner, enabled = rule_owner_for(principal, **form.owner_slugs()), not form.cleaned_data["off"]
        name, content = form.cleaned_data["name"], text.cleaned_data["content"]
        try:
            rule = rule_create(name=name, content=content, owner=owner, enabled=enabled, principal=principal)
        except Conflict as error:
            form.add_error("name", error.detail)
        except Invalid as error:
            if "name" in error.extra["errors"]:
                form.add_error("name", error.detail)
            else:
                fault = error.detail
        else:
            _notify_created(request, rule)
            return redirect("rule_page", name=rule.name)
    return new_rule_page(request, form, editor, 422, fault=fault, unsaved=True)


def _save_rule(request: HttpRequest, rule: StoredRule, editor: RuleEditor) -> HttpResponse:
    content = editor.content()
    if editor.fields and content:
        content = with_stored_layout(content, rule.content)
    text = TextForm({"version": request.POST.get("version"), "content": content}, stored=rule)
    if content is None or not text.is_valid():
        fault = _form_fault(text) if content is not None else ""
        return edit_rule_page(request, rule, editor, 422, fault=fault, unsaved=True)
    content, based_on = text.cleaned_data["content"], text.cleaned_data["version"]
    try:
        saved = rule_save(
            rule=rule, content=content, enabled=rule.enabled, expected_version=based_on, principal=principal_of(request)
        )
    except StaleVersion as stale:
        theirs = stale.current
        return edit_rule_page(request, rule, editor, stale.status, based_on=theirs.version, theirs=theirs, unsaved=True)
    except Invalid as fault:
        return edit_rule_page(request, rule, editor, 422, based_on=based_on, fault=fault.detail, unsaved=True)
    add_save_message(request, saved.version, based_on)
    return redirect("rule_page", name=rule.name)


def _form_fault(text: TextForm) -> str:
    """Return the error of a text before it is parsed."""
    if "version" in text.errors:
        return _("The request was incomplete.")
    return " ".join(map(str, text.errors.get("content", [])))


def new_rule_page(
    request: HttpRequest, form: RuleForm, editor: RuleEditor, status: int = 200, **facts: Any
) -> HttpResponse:
    """Render the page of a new rule; the keyword arguments go to its template."""
    context = {"form": form, **_page_context(request, editor), **facts}
    return render(request, "assembly/rules/new.html", context, status=status)


def edit_rule_page(
    request: HttpRequest, rule: StoredRule, editor: RuleEditor, status: int = 200, **facts: Any
) -> HttpResponse:
    """Render the page that edits a stored rule; the keyword arguments go to its template."""
    context = {"row": rule, "based_on": rule.version, **_page_context(request, editor), **facts}
    return render(request, "assembly/rules/edit.html", context, status=status)


def _page_context(request: HttpRequest, editor: RuleEditor) -> dict[str, Any]:
    checks = request.method == "POST" and editor.fields is None
    checked = {"check": rule_pages.check_text(editor.text)} if checks else {}
    return {"editor": editor, "guidance": RULE_GUIDANCE, "plain": GUIDANCE_NOTES, **checked}


def _notify_created(request: HttpRequest, rule: StoredRule) -> None:
    if rule.enabled:
        messages.success(request, _("Rule created and active."))
    else:
        messages.success(request, _("Rule created, but disabled. Test it, then enable it."))
