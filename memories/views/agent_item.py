"""These pages list, show, create, edit and delete an agent's items of any kind; memory pages share their frame."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from agents.access import agent_for, is_permitted
from agents.models import Agent
from config.http.cursors import next_page_url, page_of
from config.http.errors import Conflict, Invalid, NotFound
from config.http.late_reads import may_be_late
from memories.access import may_with_owner
from memories.forms import AgentItemForm
from memories.models.agent_item import AgentItem
from memories.services import Owner
from memories.services.agent_item import agent_item_delete
from memories.views.item_kinds import ItemPage
from teams.access import principal_of
from teams.legal_holds import hold_on
from teams.principal import Action
from teams.versioned_text.presentation import Crumb, add_save_message
from teams.versioned_text.versioned_file import StaleVersion


@may_be_late
def item_list(request: HttpRequest, slug: str, noun: ItemPage) -> HttpResponse:
    """Show the agent's items of this kind, the newest first, or the search results among them."""
    agent = agent_for(principal_of(request), slug)
    form = noun.search(request.GET, agent=agent)
    rows = form.narrowed(noun.listed(agent))
    found, cursor = page_of(rows, request.GET, keys=noun.order)
    context = {
        **item_page_context(request, agent, noun),
        "form": form,
        "found": found,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "memories/agent_item/list.html", context)


def item_detail(request: HttpRequest, slug: str, noun: ItemPage, thing_id: UUID) -> HttpResponse:
    """Show one item in full."""
    agent = agent_for(principal_of(request), slug)
    context = {**item_page_context(request, agent, noun), "thing": find_item(noun, agent, thing_id)}
    return render(request, "memories/agent_item/item.html", context)


def item_new(request: HttpRequest, slug: str, noun: ItemPage) -> HttpResponse:
    """Show the form of a new item, and create the item."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    form = noun.form(request.POST if request.method == "POST" else None, request.FILES or None, agent=agent)
    if request.method == "POST" and form.is_valid():
        try:
            [thing] = noun.create(agent=agent, facts=[form.facts], principal=principal_of(request))
        except (Conflict, Invalid) as error:
            form.refused(error)
        else:
            messages.success(request, _("Saved."))
            return redirect(item_url(noun, agent, thing))
    return render_form(request, agent, noun, form)


def item_edit(request: HttpRequest, slug: str, noun: ItemPage, thing_id: UUID) -> HttpResponse:
    """Show the form of an existing item, and save its changes.

    Where another person saved meanwhile, the page shows that version next to what was typed.
    """
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    thing = find_item(noun, agent, thing_id)
    form = noun.form(
        request.POST if request.method == "POST" else None, request.FILES or None, agent=agent, stored=thing
    )
    if request.method != "POST" or not form.is_valid():
        return render_form(request, agent, noun, form)
    based_on = form.cleaned_data["version"]
    try:
        saved = noun.update(thing=thing, expected_version=based_on, changes=form.facts, principal=principal_of(request))
    except StaleVersion as stale:
        return render_form(request, agent, noun, form.based_on(stale.current), theirs=stale.current)
    except (Conflict, Invalid) as error:
        form.refused(error)
        return render_form(request, agent, noun, form)
    add_save_message(request, saved.version, based_on)
    return redirect(item_url(noun, agent, saved))


def item_delete(request: HttpRequest, slug: str, noun: ItemPage, thing_id: UUID) -> HttpResponse:
    """Ask for confirmation, and delete the item."""
    agent = agent_for(principal_of(request), slug, Action.WRITE)
    thing = find_item(noun, agent, thing_id)
    if request.method == "POST":
        agent_item_delete(thing=thing, principal=principal_of(request))
        messages.success(request, _("“%(name)s” deleted.") % {"name": thing})
        return redirect(noun.plural, slug=slug)
    back = item_url(noun, agent, thing)
    context = {
        **item_page_context(request, agent, noun),
        "thing": thing,
        "back": back,
        "hold": hold_on(thing._meta.db_table, thing.pk),  # noqa: SLF001 - Django's documented name
    }
    return render(request, "memories/agent_item/delete.html", context)


def find_item(noun: ItemPage, agent: Agent, thing_id: UUID) -> Any:
    """Return the agent's item of this kind with that id. Raises NotFound."""
    found = noun.rows(agent).filter(id=thing_id).first()
    if found is None:
        raise NotFound(_("This page"))
    return found


def item_url(noun: ItemPage, agent: Agent, thing: AgentItem) -> str:
    """Return the URL of the item's page."""
    return reverse(noun.key, args=[agent.slug, thing.pk])


def item_page_context(request: HttpRequest, agent: Agent, noun: ItemPage, *further: Crumb) -> dict[str, Any]:
    """Return the template context that all pages of the kind share."""
    return {
        "agent": agent,
        "noun": noun,
        "may_write": is_permitted(principal_of(request), agent, Action.WRITE),
        "crumbs": (*agent_crumbs(agent), Crumb(noun.title, reverse(noun.plural, args=[agent.slug])), *further),
        "list_address": reverse(noun.plural, args=[agent.slug]),
        "new_address": reverse(f"{noun.key}_new", args=[agent.slug]),
    }


def agent_crumbs(agent: Agent) -> tuple[Crumb, ...]:
    """Return the breadcrumbs that lead to the agent's page."""
    return (
        Crumb(_("Agents"), reverse("agent_list")),
        Crumb(agent.name, reverse("agent_page", args=[agent.slug])),
    )


def render_form(
    request: HttpRequest, agent: Agent, noun: ItemPage, form: AgentItemForm, theirs: AgentItem | None = None
) -> HttpResponse:
    """Render the form as it was filled in; with `theirs`, next to the version that another person saved."""
    thing = form.stored
    back = reverse(noun.plural, args=[agent.slug]) if thing is None else item_url(noun, agent, thing)
    context = {**item_page_context(request, agent, noun), "form": form, "thing": thing, "theirs": theirs, "back": back}
    status = StaleVersion.status if theirs else 422 if form.is_bound and form.errors else 200
    return render(request, "memories/agent_item/form.html", context, status=status)


def owner_page_context(request: HttpRequest, owner: Owner) -> dict[str, Any]:
    """Return the template context that all pages of the owner's memories share."""
    kind = "agent" if isinstance(owner, Agent) else "team"
    list_address = reverse(f"{kind}_memories", args=[owner.slug])
    return {
        "owner": owner,
        "kind": kind,
        "may_write": may_with_owner(principal_of(request), owner, Action.WRITE),
        "crumbs": (*_crumbs(owner), Crumb(_("Memories"), list_address)),
        "list_address": list_address,
        "new_address": reverse(f"{kind}_memory_new", args=[owner.slug]),
        "merge_address": reverse(f"{kind}_memory_merge", args=[owner.slug]),
    }


def _crumbs(owner: Owner) -> tuple[Crumb, ...]:
    if isinstance(owner, Agent):
        return agent_crumbs(owner)
    return Crumb(_("Teams"), reverse("team_list")), Crumb(owner.name, reverse("team_page", args=[owner.slug]))
