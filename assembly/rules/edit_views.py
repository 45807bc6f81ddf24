"""Writing rules: a new one, and the next version of one. What is typed stays on the page until it is saved."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from assembly.models import StoredRule
from assembly.rules.editor import Editor, Turn, editor_for, editor_posted, says_the_same, turned
from assembly.rules.form_fields import names_for
from assembly.rules.forms import RuleForm, owner_choices
from assembly.rules.presentation import PLAIN, RULE
from assembly.rules.services import owner_for, rule_create, rule_for, rule_save
from assembly.rules.views import check_of
from config.http.errors import Conflict, Forbidden, Invalid
from teams.access import principal_of
from teams.forms import TextForm
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import StaleVersion


def new(request: HttpRequest) -> HttpResponse:
    """A new rule: fields to fill in, or a text that begins as an example."""
    principal = principal_of(request)
    choices, names = choices_for(principal), names_for(principal)
    if request.method != "POST":
        editor = editor_for("", names, as_text=_wants_text(request))
        return new_rule_page(request, RuleForm(choices=choices), editor)
    form, editor = RuleForm(request.POST, choices=choices), editor_posted(request.POST, names)
    if (turn := turn_of(request)) is not None:
        after = turned(editor, turn, names)
        return new_rule_page(request, form.as_typed(), after, unsaved=True, added=turn == "add")
    return _created(request, form, editor)


def edit(request: HttpRequest, name: str) -> HttpResponse:
    """The next version of a rule, made from the version that the page showed."""
    principal = principal_of(request)
    rule, names = rule_for(principal, name, Action.EDIT), names_for(principal)
    if request.method != "POST":
        return edit_rule_page(request, rule, editor_for(rule.content, names, as_text=_wants_text(request)))
    editor = editor_posted(request.POST, names)
    based_on = request.POST.get("version", "")
    if (turn := turn_of(request)) is not None:
        after = turned(editor, turn, names)
        return edit_rule_page(request, rule, after, based_on=based_on, unsaved=True, added=turn == "add")
    return _saved(request, rule, editor)


def choices_for(principal: Principal) -> list[tuple[Any, Any]]:
    """Return whom this person may write rules for. Raises Forbidden where that is nobody."""
    choices = owner_choices(principal)
    if not choices:
        raise Forbidden(_("You may not write rules. Ask an admin of one of your teams."))
    return choices


def turn_of(request: HttpRequest) -> Turn | None:
    """Return which button was pressed that changes the editor and saves nothing."""
    match request.POST.get("do"):
        case "add" | "switch" as turn:
            return turn
    return None


def _wants_text(request: HttpRequest) -> bool:
    return request.GET.get("as") == "text"


def _created(request: HttpRequest, form: RuleForm, editor: Editor) -> HttpResponse:
    text = TextForm({"version": 0, "content": editor.content()}, stored=StoredRule())
    can_be_made = all([form.is_valid(), editor.content() is not None, text.is_valid()])
    fault = _fault_of(text)
    if can_be_made:
        principal = principal_of(request)
        owner, enabled = owner_for(principal, **form.owner_named()), not form.cleaned_data["off"]
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
            _tell_created(request, rule)
            return redirect("rule_page", name=rule.name)
    return new_rule_page(request, form, editor, 422, fault=fault, unsaved=True)


def _saved(request: HttpRequest, rule: StoredRule, editor: Editor) -> HttpResponse:
    content = editor.content()
    if editor.fields and content and says_the_same(content, rule.content):
        content = rule.content  # laid out as somebody wrote it
    text = TextForm({"version": request.POST.get("version"), "content": content}, stored=rule)
    if content is None or not text.is_valid():
        fault = _fault_of(text) if content is not None else ""
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
    _tell_saved(request, saved, based_on)
    return redirect("rule_page", name=rule.name)


def _fault_of(text: TextForm) -> str:
    """What is wrong with a text before anybody reads it."""
    if "version" in text.errors:
        return _("This page was incomplete.")
    return " ".join(map(str, text.errors.get("content", [])))


def new_rule_page(
    request: HttpRequest, form: RuleForm, editor: Editor, status: int = 200, **facts: Any
) -> HttpResponse:
    """Render the page of a rule that is not stored yet; `facts` go to its template."""
    context = {"form": form, **_facts(request, editor), **facts}
    return render(request, "assembly/rules/new.html", context, status=status)


def edit_rule_page(
    request: HttpRequest, rule: StoredRule, editor: Editor, status: int = 200, **facts: Any
) -> HttpResponse:
    """Render the page that edits a stored rule; `facts` go to its template."""
    context = {"row": rule, "based_on": rule.version, **_facts(request, editor), **facts}
    return render(request, "assembly/rules/edit.html", context, status=status)


def _facts(request: HttpRequest, editor: Editor) -> dict[str, Any]:
    checked = {"check": check_of(editor.text)} if request.method == "POST" and editor.fields is None else {}
    return {"editor": editor, "guidance": RULE, "plain": PLAIN, **checked}


def _tell_created(request: HttpRequest, rule: StoredRule) -> None:
    if rule.enabled:
        messages.success(request, _("The rule is there. It counts from the next context on."))
    else:
        messages.success(
            request, _("The rule is there, switched off. Try it, and switch it on when it does what you want.")
        )


def _tell_saved(request: HttpRequest, saved: StoredRule, based_on: int) -> None:
    if saved.version == based_on:
        messages.info(request, _("Nothing had changed, so there is no new version."))
    else:
        messages.success(request, _("Saved as version %(version)s.") % {"version": saved.version})
