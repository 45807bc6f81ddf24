"""The panel that says what a rule would have changed: of the stored one, and of one that is being written."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assembly.models import StoredRule
from assembly.profiles.tree import UnreadableProfile
from assembly.rules.access import Owner, rule_for, scope_of
from assembly.rules.catalogue import rule_drafted
from assembly.rules.trying import Trials, rule_try
from assembly.views.rule_editor import Editor
from assembly.views.rules import facts_of_rule
from assembly.views.trial_words import TrialRow, trial_rows, trials_headline
from teams.principal import Principal
from teams.views.asking import asking


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of trying. With a `fault`, nothing was tried."""

    headline: str
    rows: list[TrialRow]
    trials: Trials | None = None
    fault: str = ""
    includes: bool = False
    """The rule always includes something: that is taken as it is today."""

    @property
    def status(self) -> int:
        """Of the page that shows it."""
        return 422 if self.fault else 200


def failed(fault: str) -> Attempt:
    """Nothing could be tried, because of that."""
    return Attempt(_("This cannot be tried yet."), [], fault=fault)


def attempted(principal: Principal, content: str, owner: Owner, *, name: str, version: int) -> Attempt:
    """The rule that the text would be, tried for the owner."""
    try:
        rule = rule_drafted(content, name=name, version=version, scope=scope_of(owner))
    except UnreadableProfile as fault:
        return failed(fault.detail)
    trials = rule_try(rule=rule, owner=owner, principal=principal)
    return Attempt(trials_headline(trials), trial_rows(trials), trials, includes=bool(rule.then.always_include))


def tried_draft(editor: Editor, attempt: Callable[[str], Attempt]) -> Attempt:
    """What is being written, tried; where fields cannot be used, these say why."""
    content = editor.content()
    if content is None:
        return failed(_("Some of what is filled in cannot be used: see there."))
    return attempt(content)


@require_POST
def rule_attempt(request: HttpRequest, name: str) -> HttpResponse:
    """The rule's page with what it would have changed, for all who may read it. The stored text is tried."""
    principal = asking(request)
    rule: StoredRule = rule_for(principal, name)
    attempt = attempted(principal, rule.content, rule.owner, name=rule.name, version=rule.version)
    context = {**facts_of_rule(principal, rule), "attempt": attempt}
    return render(request, "assembly/rule.html", context, status=panel_status(request, attempt))


def panel_status(request: HttpRequest, attempt: Attempt) -> int:
    """htmx puts nothing on the page of an answer that is an error, and the panel says what is wrong."""
    return 200 if request.headers.get("HX-Request") else attempt.status
