"""These pages show the storage policies in plain words, and let admins try and save them."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.http.errors import Conflict, NotFound
from memories.forms.storage_policy import StoragePolicyForm
from memories.lifecycle.kv_policies import PolicyBook, current_version, kv_policy_save
from memories.lifecycle.kv_policy import CONTENT_TYPES, parse_policy
from memories.lifecycle.policy_preview import policy_preview
from memories.models import LifecycleReport
from teams.access import principal_of, require_admin

CONTENT_TYPE_LABELS = {
    "code_snippets": gettext_lazy("Code"),
    "documentation": gettext_lazy("Documentation"),
    "research_papers": gettext_lazy("Research papers"),
    "general": gettext_lazy("Memories, events and everything else"),
}
STEP_LABELS = {
    "prune": gettext_lazy("Replaced or archived long ago: left out of search"),
    "compress": gettext_lazy("Compressed"),
    "evict": gettext_lazy("Over the size of the policy: left out of search"),
    "freeze": gettext_lazy("Unused for 90 days: archived in files"),
    "pressure": gettext_lazy("Over the budget: left out of search"),
    "consolidate": gettext_lazy("Duplicates: merged"),
    "budget": gettext_lazy("Budget checked"),
}
SHOWN_REPORTS = 20


def storage(request: HttpRequest) -> HttpResponse:
    """Show the policy of each content type, and to admins what the last runs did."""
    principal = principal_of(request)
    book = PolicyBook()
    reports = LifecycleReport.objects.exclude(step="budget").order_by("-created", "-id") if principal.is_admin else ()
    context = {
        "policies": [(name, CONTENT_TYPE_LABELS[name], book.policy(name)) for name in CONTENT_TYPES],
        "may_edit": principal.is_admin,
        "reports": [(report, STEP_LABELS.get(report.step, report.step)) for report in reports[:SHOWN_REPORTS]],
    }
    return render(request, "memories/lifecycle/storage.html", context)


def storage_policy(request: HttpRequest, content_type: str) -> HttpResponse:
    """Show the form of a policy, say what would happen, and save it. For admins of the organisation."""
    principal = principal_of(request)
    require_admin(principal)
    if content_type not in CONTENT_TYPES:
        raise NotFound(_("This page"))
    held, version = PolicyBook().policy(content_type), current_version(content_type, None)
    form = StoragePolicyForm(request.POST or None, policy=held, version=version)
    context: dict[str, Any] = {"form": form, "label": CONTENT_TYPE_LABELS[content_type]}
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") != "save":
            policy = parse_policy(form.policy_json)
            context["preview"] = policy_preview(content_type=content_type, team=None, policy=policy, now=timezone.now())
        elif _save(request, content_type, form):
            return redirect("storage")
    status = 422 if form.errors else 200
    return render(request, "memories/lifecycle/storage_policy.html", context, status=status)


def _save(request: HttpRequest, content_type: str, form: StoragePolicyForm) -> bool:
    """Save the policy, and return whether it was saved; the form says what is wrong."""
    try:
        kv_policy_save(
            content_type=content_type,
            team=None,
            policy=form.policy_json,
            expected_version=form.cleaned_data["version"],
            note=form.cleaned_data["note"],
            principal=principal_of(request),
        )
    except Conflict as stale:
        form.add_error(None, stale.detail)
        return False
    messages.success(request, _("Saved. It holds from the next run on."))
    return True
