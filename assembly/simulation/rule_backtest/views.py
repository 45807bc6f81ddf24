"""The pages of backtests: of a stored rule, a new one, and one that is being edited."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from assembly.comparison.changed_items import ChangedItem, changed_items, effect_tag, titles_by_ref
from assembly.engine.diff import DecisionChange
from assembly.engine.reasons import decision_sentence
from assembly.engine.types import Decision
from assembly.models import Assembly, StoredRule
from assembly.profiles.yaml_reader import UnreadableDocument
from assembly.records.item_titles import reason_sentence
from assembly.rules.catalogue import parse_draft_rule
from assembly.rules.edit_views import edit_rule_page, new_rule_page, owner_choices_for
from assembly.rules.editor import RuleEditor, editor_from_post
from assembly.rules.form_fields import field_choices
from assembly.rules.forms import RuleForm
from assembly.rules.services import Owner, owner_scope, rule_for, rule_owner_for
from assembly.rules.views import rule_page_context
from assembly.simulation.rule_backtest.services import ContextBacktest, RuleBacktest, rule_backtest
from teams.access import principal_of
from teams.principal import Action, Principal

SHOWN = 6
"""The number of changes of a context that are shown at once; the others are folded."""


@dataclass(frozen=True, slots=True)
class ContextBacktestRow:
    """A context in which the rule would have applied, with its changes."""

    assembly: Assembly
    headline: str
    changes: tuple[ChangedItem, ...]
    misses_required_item: bool

    @property
    def first(self) -> tuple[ChangedItem, ...]:
        """The changes that are shown at once."""
        return self.changes[:SHOWN]

    @property
    def rest(self) -> tuple[ChangedItem, ...]:
        """The changes that are folded."""
        return self.changes[SHOWN:]


def backtest_headline(trials: RuleBacktest) -> str:
    """Return the result of the backtest in one or two sentences."""
    tried = len(trials.trials)
    if not tried:
        return _("There is no context to test the rule on yet.")
    if not trials.applying:
        said = ngettext(
            "The rule does not match the last context.",
            "The rule matches none of the last %(tried)s contexts.",
            tried,
        )
    else:
        said = ngettext(
            "The rule matches the last context.",
            "The rule matches %(applying)s of the last %(tried)s contexts.",
            tried,
        )
    changed = ngettext("%(changed)s would change.", "%(changed)s would change.", trials.changed)
    counts = {"tried": tried, "applying": trials.applying, "changed": trials.changed or _("None")}
    return f"{said} {changed}" % counts


def context_backtest_rows(trials: RuleBacktest) -> list[ContextBacktestRow]:
    """Return the contexts in which the rule applies, newest first."""
    telling = [trial for trial in trials.trials if trial.applies or trial.changes]
    return [
        ContextBacktestRow(trial.assembly, _headline(trial), _change_rows(trial), trial.misses_required_item)
        for trial in telling
    ]


def _headline(trial: ContextBacktest) -> str:
    if not trial.changes or trial.comparison is None:
        return _("The rule matches, but changes nothing.")
    tokens = {"before": f"{trial.comparison.tokens_before:,}", "after": f"{trial.tokens:,}"}
    begun = _("The rule matched, but no longer does: ") if trial.applied and not trial.applies else ""
    if tokens["before"] == tokens["after"]:
        return begun + _("%(after)s tokens, unchanged.") % tokens
    return begun + _("%(before)s → %(after)s tokens.") % tokens


def _change_rows(trial: ContextBacktest) -> tuple[ChangedItem, ...]:
    if trial.comparison is None:
        return ()
    return changed_items(
        trial.comparison,
        trial.changes,
        titles_by_ref(trial.candidates),
        tag=partial(effect_tag, wording="rules"),
        why=_why,
    )


def _why(change: DecisionChange, label: str, titles: Mapping[str, str]) -> str:
    if change.effect == "changed" and change.before and change.after:
        return f"{label}: {_rank_shift(change.before, change.after, label)}."
    if change.after is None:
        return _("No rule would always include it.")
    return f"{label}: {reason_sentence(change.after, label, titles)}"


def _rank_shift(before: Decision, after: Decision, label: str) -> str:
    """Return how the score or the rank of an item changes that is included in both."""
    parts = []
    if before.score != after.score and before.score is not None and after.score is not None:
        scores = {"before": f"{before.score:.2f}", "after": f"{after.score:.2f}"}
        parts.append(_("score %(before)s → %(after)s") % scores)
    if before.rank != after.rank:
        parts.append(_("rank %(before)s → %(after)s") % {"before": before.rank, "after": after.rank})
    if not parts or before.code != after.code:
        parts.append(decision_sentence(after, label).rstrip("."))
    if not after.included:
        parts.append(_("still excluded"))
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class BacktestAttempt:
    """The result of a backtest. With a `fault`, no context was tested."""

    headline: str
    rows: list[ContextBacktestRow]
    trials: RuleBacktest | None = None
    fault: str = ""
    includes: bool = False
    """Whether the rule always includes items, which are read from today's data."""

    @property
    def status(self) -> int:
        """The HTTP status of the page that shows the result."""
        return 422 if self.fault else 200


def failed_backtest(fault: str) -> BacktestAttempt:
    """Return the result of a backtest that could not run because of this error."""
    return BacktestAttempt(_("The rule cannot be tested yet."), [], fault=fault)


def run_backtest(principal: Principal, content: str, owner: Owner, *, name: str, version: int) -> BacktestAttempt:
    """Return the backtest of the rule in the text, for the owner."""
    try:
        rule = parse_draft_rule(content, name=name, version=version, scope=owner_scope(owner))
    except UnreadableDocument as fault:
        return failed_backtest(fault.detail)
    trials = rule_backtest(rule=rule, owner=owner, principal=principal)
    return BacktestAttempt(
        backtest_headline(trials), context_backtest_rows(trials), trials, includes=bool(rule.then.always_include)
    )


def backtest_draft(editor: RuleEditor, attempt: Callable[[str], BacktestAttempt]) -> BacktestAttempt:
    """Return the backtest of the edited rule, or the errors of its form."""
    content = editor.content()
    if content is None:
        return failed_backtest(_("Some values are invalid: see the errors in the form."))
    return attempt(content)


@require_POST
def rule_backtest_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a rule with what its stored text would have changed, for people who may read it."""
    principal = principal_of(request)
    rule: StoredRule = rule_for(principal, name)
    attempt = run_backtest(principal, rule.content, rule.owner, name=rule.name, version=rule.version)
    context = {**rule_page_context(principal, rule), "attempt": attempt}
    return render(request, "assembly/rules/rule.html", context, status=panel_status(request, attempt))


def panel_status(request: HttpRequest, attempt: BacktestAttempt) -> int:
    """Return the status of the panel: 200 for htmx, which ignores error responses; the panel shows the error."""
    return 200 if request.headers.get("HX-Request") else attempt.status


@require_POST
def new_rule_backtest_page(request: HttpRequest) -> HttpResponse:
    """Render the page of a new rule with what it would have changed."""
    principal = principal_of(request)
    form = RuleForm(request.POST, choices=owner_choices_for(principal))
    editor = editor_from_post(request.POST, field_choices(principal))
    form.is_valid()  # only the owner is needed yet, so other errors are ignored
    if "owner" in form.cleaned_data:
        owner, name = rule_owner_for(principal, **form.owner_slugs()), form.cleaned_data.get("name", "")
        attempt = backtest_draft(editor, lambda content: run_backtest(principal, content, owner, name=name, version=1))
    else:
        attempt = failed_backtest(_("Choose the scope of the rule."))
    status = panel_status(request, attempt)
    return new_rule_page(request, form.unbound_copy(), editor, status, attempt=attempt, unsaved=True)


@require_POST
def edited_rule_backtest_page(request: HttpRequest, name: str) -> HttpResponse:
    """Render the editor of a rule with what the text in it would have changed."""
    principal = principal_of(request)
    rule = rule_for(principal, name, Action.EDIT)
    editor = editor_from_post(request.POST, field_choices(principal))
    attempt = backtest_draft(
        editor, lambda content: run_backtest(principal, content, rule.owner, name=rule.name, version=rule.version + 1)
    )
    status, based_on = panel_status(request, attempt), request.POST.get("version", "")
    return edit_rule_page(request, rule, editor, status, based_on=based_on, attempt=attempt, unsaved=True)
