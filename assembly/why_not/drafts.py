"""Each change of a remedy leads to the page that makes it, with the change filled in; nothing is saved before that."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.contexts.links import ItemLinks
from assembly.engine.refs import Ref
from assembly.models import Assembly, StoredRule
from assembly.profiles.catalogue import find_profile_row
from assembly.profiles.shipped import CONVERSATION
from assembly.records.reader import StoredAssembly
from assembly.rules.services import may_edit
from assembly.sources.kinds import ORGANISATION_FILE
from assembly.why_not.changes import RemedyChange
from config.http.errors import DossierError
from memories.access import memory_for
from memories.models import Memory
from teams.principal import Action, Principal


@dataclass(frozen=True, slots=True)
class RemedyDraft:
    """A button below a remedy: a link to a filled-in form, or with `version` a form that pins this memory at once."""

    label: str
    address: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class RemedyDrafts:
    """The drafts for the remedies of one context, as far as the principal may make the change."""

    told: StoredAssembly
    links: ItemLinks
    principal: Principal

    def of(self, changes: tuple[RemedyChange, ...]) -> list[RemedyDraft]:
        """Return a draft for each of the changes that has one."""
        return [draft for change in changes for draft in self._drafts(change)]

    def _drafts(self, change: RemedyChange) -> Iterator[RemedyDraft]:
        match change.kind:
            case "cap" | "top_k" | "threshold" if self.principal.is_admin:
                yield from self._of_profile(change)
            case "cap" | "budget":
                yield self._what_if(change)
            case "boost" | "always_include":
                yield from self._new_rule(change)
            case "without_rule":
                yield from self._edited_rules(change)
            case "pin":
                yield from self._pin(change)
            case "not_superseded" | "not_archived" | "without_duplicate" | "conflict_decided" | "shorter" | "text":
                yield from self._item(change)

    @property
    def _assembly(self) -> Assembly:
        return self.told.assembly

    def _of_profile(self, change: RemedyChange) -> Iterator[RemedyDraft]:
        name = self._assembly.profile_name
        if find_profile_row(name) is None:
            return  # deleted since
        query = {"change": change.kind, "section": change.section, "value": f"{change.value}"}
        if name == CONVERSATION.name:
            address = f"{reverse('profile_new')}?{urlencode({'from': name, **query})}"
            yield RemedyDraft(_("Copy profile %(name)s with this change") % {"name": name}, address)
        else:
            address = f"{reverse('profile_edit', args=[name])}?{urlencode(query)}"
            yield RemedyDraft(_("Change profile %(name)s") % {"name": name}, address)

    def _what_if(self, change: RemedyChange) -> RemedyDraft:
        field = "max_tokens" if change.kind == "budget" else f"cap_{change.section}"
        address = f"{reverse('context_what_if', args=[self._assembly.id])}?{urlencode({field: int(change.value)})}"
        return RemedyDraft(_("Simulate and suggest"), address)

    def _new_rule(self, change: RemedyChange) -> Iterator[RemedyDraft]:
        agent = Agent.objects.visible_to(self.principal).filter(id=self._assembly.agent_id).first()
        if agent is None or not may_with_agent(self.principal, agent, Action.EDIT):
            return
        by, _sep, value = change.name.partition(":")
        query = {"what": change.kind, "by": by, "value": value, "owner": f"agent:{agent.slug}"}
        if change.kind == "boost":
            query["weight"] = f"{change.value:g}"
        yield RemedyDraft(_("Create rule"), f"{reverse('rule_new')}?{urlencode(query)}")

    def _edited_rules(self, change: RemedyChange) -> Iterator[RemedyDraft]:
        names = [label.partition("@")[0] for label in change.name.split(", ")]
        for rule in StoredRule.objects.visible_to(self.principal).filter(name__in=names).order_by("name"):
            if may_edit(self.principal, rule):
                yield RemedyDraft(_("Edit rule %(name)s") % {"name": rule.name}, reverse("rule_edit", args=[rule.name]))

    def _pin(self, change: RemedyChange) -> Iterator[RemedyDraft]:
        if (memory := self._memory(change.ref)) is not None and not memory.pinned:
            yield RemedyDraft(_("Pin memory"), reverse("memory_pin", args=[memory.id]), version=memory.version)

    def _item(self, change: RemedyChange) -> Iterator[RemedyDraft]:
        ref = change.name if change.kind in {"without_duplicate", "conflict_decided"} else change.ref
        if (memory := self._memory(ref)) is not None:
            edits = change.kind in {"shorter", "text"}
            yield RemedyDraft(
                _("Edit memory") if edits else _("Open memory"),
                reverse("memory_edit" if edits else "memory", args=[memory.id]),
            )
            return
        candidate = next((one for one in self.told.inputs.candidates if one.ref == ref), None)
        pages: Mapping[str, tuple[str, str]] = {
            "agent_file": ("agent_file", self.links.agent),
            "team_file": ("team_file", self.links.team),
        }
        named = Ref.parse(ref)
        if named.kind == ORGANISATION_FILE and self.principal.is_admin:
            if key := self.links.organisation_file_keys.get(named.id):
                yield RemedyDraft(_("Edit text"), reverse("organisation_file", args=[key]))
        elif candidate and candidate.kind and (page := pages.get(named.kind)) and page[1]:
            name, slug = page
            yield RemedyDraft(_("Edit text"), reverse(name, args=[slug, candidate.kind]))

    def _memory(self, ref: str) -> Memory | None:
        """Return the memory with this ref if the principal may write it."""
        parsed = Ref.parse(ref)
        if parsed.kind != "memory":
            return None
        try:
            return memory_for(self.principal, UUID(parsed.id), Action.WRITE)
        except DossierError:
            return None
