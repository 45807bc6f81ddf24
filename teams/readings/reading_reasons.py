"""Where a team demands it, people say why before they open or download what is confidential or restricted.

A person gives the reason on a page of its own, once an hour for each agent or team. A key sends it with each request,
in the header `Reading-Reason`.
"""

import time
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from config.db.statements import fetch_rows
from config.http.errors import DossierError
from config.http.problems import error_response, is_api
from teams.forms import validate_storable
from teams.readings.collector import Thing
from teams.readings.models import MAX_REASON_CHARACTERS, ReadingKind, ReadingReasons
from teams.sensitivity import Sensitivity

HEADER = "Reading-Reason"
MIN_REASON_CHARACTERS = 3
VALID_SECONDS = 3_600
MAX_OWNERS = 50
"""Most agents and teams for which a browser session knows a reason; the oldest are forgotten first."""
SESSION_KEY = "reading_reasons"
SALT = "reading reasons"
LOWEST_LEVEL = {
    ReadingReasons.RESTRICTED: Sensitivity.RESTRICTED,
    ReadingReasons.CONFIDENTIAL: Sensitivity.CONFIDENTIAL,
}
DEMANDS_SQL = f"""
SELECT links.agent_id, teams.id, teams.reading_reasons FROM teams
LEFT JOIN agent_teams AS links ON links.team_id = teams.id AND links.agent_id = ANY(%(agents)s)
WHERE teams.reading_reasons <> '{ReadingReasons.NEVER}' AND (teams.id = ANY(%(teams)s) OR links.agent_id IS NOT NULL)
"""  # noqa: S608 - a constant alone is put in


class ReasonRequired(DossierError):
    """A team demands a reason for reading this, and the request has none."""

    status = 403
    code = "reason_required"
    title = "Say why you read this"

    def __init__(self) -> None:
        super().__init__(
            f"The team demands a reason for reading this. Send it in the header {HEADER}, in "
            f"{MIN_REASON_CHARACTERS} to {MAX_REASON_CHARACTERS} characters. It is listed in the log of readings."
        )


class ReasonForm(forms.Form):
    """The form in which a person says why they read something."""

    reason = forms.CharField(
        label=_("Why do you read this?"),
        min_length=MIN_REASON_CHARACTERS,
        max_length=MAX_REASON_CHARACTERS,
        validators=[validate_storable],
        help_text=_("For example, the number of a ticket."),
    )


def demanded_response(
    request: HttpRequest, groups: Iterable[tuple[ReadingKind, Sequence[Thing]]]
) -> HttpResponse | None:
    """Return the response that demands a reason for what the request opened or downloads; None if it is not needed."""
    if request.method != "GET":
        return None  # what it did is done; the page that follows demands the reason
    things = [thing for kind, group in groups if kind != ReadingKind.LISTED for thing in group]
    owners = {owner for thing in _demanding(things) if (owner := owner_of(thing)) and not given_reason(request, owner)}
    if not owners:
        return None
    if is_api(request):
        return error_response(request, ReasonRequired())
    query = {"next": request.get_full_path(), "of": signing.dumps(sorted(map(str, owners)), salt=SALT)}
    address = f"{reverse('reading_reason')}?{urlencode(query)}"
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)


def owner_of(thing: Thing) -> UUID | None:
    """Return the id of the agent or team for whose things a reason is given; None for those of the organisation."""
    return thing.agent_id or thing.team_id


def given_reason(request: HttpRequest, owner: UUID | None) -> str:
    """Return the reason for reading things of this owner: that of the header, or of the browser session; "" if none."""
    if is_api(request):
        header = request.headers.get(HEADER, "").encode("latin-1", "replace").decode("utf-8", "replace")
        form = ReasonForm({"reason": header})
        return str(form.cleaned_data["reason"]) if form.is_valid() else ""
    reason, until = request.session.get(SESSION_KEY, {}).get(str(owner), ("", 0))
    return str(reason) if until > time.time() else ""


def reading_reason(request: HttpRequest) -> HttpResponse:
    """Ask the person why they read things of some agents and teams, and lead them there."""
    form = ReasonForm(request.POST or None)
    address = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure()):
        address = reverse("home")
    if request.method == "POST" and form.is_valid():
        known = dict(request.session.get(SESSION_KEY, {}))
        given = [form.cleaned_data["reason"], time.time() + VALID_SECONDS]
        for owner in _signed_owners(request.GET.get("of", "")):
            known.pop(owner, None)
            known[owner] = given
        request.session[SESSION_KEY] = dict(list(known.items())[-MAX_OWNERS:])
        return redirect(address)
    facts = {"form": form, "minutes": VALID_SECONDS // 60}
    return render(request, "teams/readings/reason.html", facts, status=422 if form.errors else 200)


def _demanding(things: Sequence[Thing]) -> list[Thing]:
    """Return the things for which one of the teams of their owner demands a reason; one query, none without things."""
    if not things:
        return []
    owners = {
        "agents": list({thing.agent_id for thing in things if thing.agent_id}),
        "teams": list({thing.team_id for thing in things if thing.team_id}),
    }
    lowest: dict[UUID, Sensitivity] = {}
    for agent, team, choice in fetch_rows(DEMANDS_SQL, owners):
        for owner in {agent, team} - {None}:
            lowest[owner] = min(lowest.get(owner, Sensitivity.RESTRICTED), LOWEST_LEVEL[ReadingReasons(choice)])
    return [
        thing
        for thing in things
        if any(owner in lowest and thing.level >= lowest[owner] for owner in (thing.agent_id, thing.team_id))
    ]


def _signed_owners(signed: str) -> list[str]:
    """Return the ids that a demand has signed; none if somebody else made them up."""
    try:
        owners = signing.loads(signed, salt=SALT, max_age=24 * VALID_SECONDS)
    except signing.BadSignature:
        return []
    return [str(owner) for owner in owners]
