"""The pages of recall tests: the list, a test with its results, its form, and "keep this as a test"."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from agents.access import agent_for
from agents.models import Agent
from assembly.access import assembly_for
from assembly.models import RecallTest
from assembly.recall_tests.expectations import expectations_from
from assembly.recall_tests.forms import NewRecallTestForm, RecallTestForm
from assembly.recall_tests.kept_context import recall_test_from_context
from assembly.recall_tests.presentation import recall_test_rows, report_headline
from assembly.recall_tests.services import (
    may_edit,
    recall_owners_for,
    recall_test_archive,
    recall_test_create,
    recall_test_delete,
    recall_test_for,
    recall_test_run,
    recall_test_save,
    recall_tests_visible_to,
    results_visible_to,
)
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, Forbidden, Invalid
from config.http.selection import FIELD
from teams.access import principal_of, team_for
from teams.models import Team
from teams.principal import Action, Principal
from teams.sealing.order import in_order_of, rows_by_name
from teams.versioned_text.presentation import Crumb
from teams.versioned_text.versioned_file import StaleVersion
from teams.views.confirmation import Confirmation, confirmation_page

PER_PAGE = 60
SHOWN_RESULTS = "20"
STALE = gettext_lazy(
    "Someone changed it meanwhile. The form has what you entered, for the expectations that the test has now. "
    "Review it, then save again to replace the changes."
)


def recall_test_list(request: HttpRequest) -> HttpResponse:
    """Show the tests that the person may see, of an agent or a team if the query names one, by name."""
    principal = principal_of(request)
    tests = recall_tests_visible_to(principal)
    shown_archived = request.GET.get("show") == "archived"
    tests = tests.filter(archived__isnull=not shown_archived)
    agent = agent_for(principal, request.GET["agent"]) if request.GET.get("agent") else None
    team = team_for(principal, request.GET["team"]) if request.GET.get("team") else None
    if agent:
        tests = tests.filter(agent=agent)
    if team:
        tests = tests.filter(team=team)
    owner = agent or team
    page = Paginator([row.id for row in rows_by_name(tests, "name")], PER_PAGE).get_page(request.GET.get("page"))
    shown = tests.filter(id__in=list(page)).order_by(in_order_of(list(page)))
    context = {
        "page": page,
        "rows": recall_test_rows(principal, list(shown)),
        "agent": agent,
        "team": team,
        "heading": _("Recall tests of %(name)s") % {"name": owner.name} if owner else _("Recall tests"),
        "shown_archived": shown_archived,
        "may_write": _may_write(principal),
    }
    return render(request, "assembly/recall_tests/list.html", context)


def _may_write(principal: Principal) -> bool:
    editable = Team.objects.editable_by(principal).exists() or Agent.objects.editable_by(principal).exists()
    return principal.is_admin or editable


def recall_test(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Show a test with its expectations, its newest results, and earlier ones."""
    principal = principal_of(request)
    test = recall_test_for(principal, id_)
    results, cursor = page_of(results_visible_to(principal, test), {"limit": SHOWN_RESULTS, **request.GET.dict()})
    (row,) = recall_test_rows(principal, [test])
    context = {
        "test": test,
        "row": row,
        "expectations": expectations_from(test.expectations),
        "results": results,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
        "may_edit": may_edit(principal, test),
    }
    return render(request, "assembly/recall_tests/recall_test.html", context)


def recall_test_new(request: HttpRequest) -> HttpResponse:
    """Create a test."""
    principal = principal_of(request)
    if not _may_write(principal):
        raise Forbidden(_("You may not create recall tests. Ask an admin of one of your teams."))
    initial = {name: request.GET[name] for name in ("team", "agent", "topic") if name in request.GET}
    form = NewRecallTestForm(request.POST if request.method == "POST" else None, principal=principal, initial=initial)
    if request.method == "POST" and form.is_valid() and (test := _create_from_form(form, principal)):
        messages.success(request, _("Recall test created. Run it to see whether it passes."))
        return redirect("recall_test", id_=test.id)
    return render(request, "assembly/recall_tests/form.html", {"form": form}, status=422 if form.errors else 200)


def recall_test_edit(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Change a test: its request and its expectations."""
    principal = principal_of(request)
    test = recall_test_for(principal, id_, Action.EDIT)
    form = RecallTestForm(request.POST if request.method == "POST" else None, test=test)
    if request.method == "POST" and form.is_valid() and _save_form(form, test, principal):
        messages.success(request, _("Saved."))
        return redirect("recall_test", id_=id_)
    context = {"form": form, "test": test}
    return render(request, "assembly/recall_tests/form.html", context, status=422 if form.errors else 200)


@require_POST
def run(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Run a test for the agents that the person may see, and store the results."""
    principal = principal_of(request)
    report = recall_test_run(test=recall_test_for(principal, id_), principal=principal).report
    if not report.outcomes:
        messages.info(request, _("There is no agent to run it for."))
    elif report.failed:
        messages.error(request, report_headline(report))
    else:
        messages.success(request, report_headline(report))
    return redirect("recall_test", id_=id_)


@require_POST
def archive(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Archive a test, or restore it."""
    principal = principal_of(request)
    test = recall_test_for(principal, id_, Action.EDIT)
    archived = "restore" not in request.POST
    recall_test_archive(test=test, archived=archived, principal=principal)
    messages.success(request, _("Archived. It is not run any more.") if archived else _("Restored."))
    return redirect("recall_test", id_=id_)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask for confirmation, and delete a test with its results."""
    principal = principal_of(request)
    test = recall_test_for(principal, id_, Action.EDIT)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Delete the recall test “%(name)s”?") % {"name": test.name},
                consequences=[_("Its results are deleted, too. To stop running it, archive it.")],
                button=_("Delete permanently"),
                back=reverse("recall_test", args=[id_]),
                crumbs=[Crumb(_("Recall tests"), reverse("recall_test_list"))],
            ),
        )
    recall_test_delete(test=test, principal=principal)
    messages.success(request, _("Recall test deleted."))
    return redirect("recall_test_list")


@require_POST
def keep_context(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Make a test from a recorded context, of the items that were selected in its list, and open its form."""
    principal = principal_of(request)
    assembly = assembly_for(principal, id_)
    refs = request.POST.getlist(FIELD)
    try:
        test = recall_test_from_context(assembly=assembly, refs=refs, principal=principal)
    except (Conflict, Invalid) as refused:
        messages.error(request, refused.detail)
        return redirect("context", id_=id_)
    count = len(test.expectations)
    created = ngettext(
        "Kept as a recall test. It expects %(count)s item: change what you need.",
        "Kept as a recall test. It expects %(count)s items: change what you need.",
        count,
    )
    messages.success(request, created % {"count": f"{count:,}"})
    return redirect("recall_test_edit", id_=test.id)


def _create_from_form(form: NewRecallTestForm, principal: Principal) -> RecallTest | None:
    """Return the new test; None if the form now has errors."""
    slugs = {name: one.slug if (one := form.cleaned_data[name]) else "" for name in ("agent", "team")}
    try:
        agent, team = recall_owners_for(principal, **slugs)
        return recall_test_create(agent=agent, team=team, facts=form.facts(), principal=principal)
    except (Conflict, Forbidden) as error:
        form.add_error(None, error.detail)
    except Invalid as error:
        _add_fault(form, error)
    return None


def _save_form(form: RecallTestForm, test: RecallTest, principal: Principal) -> bool:
    """Return whether the test was saved; if not, the form has the error.

    Saving again replaces the changes of others, except those that the form does not show, because they came later.
    """
    try:
        recall_test_save(
            test=test, facts=form.facts(), expected_version=form.cleaned_data["version"], principal=principal
        )
    except StaleVersion:
        form.data["version"] = str(test.version)
        form.add_error(None, STALE)
    except Invalid as error:
        _add_fault(form, error)
    else:
        return True
    return False


def _add_fault(form: RecallTestForm, error: Invalid) -> None:
    field = next(iter(error.extra["errors"]))
    form.add_error("include" if field == "expectations" else field if field in form.fields else None, error.detail)
