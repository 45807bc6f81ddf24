"""The overrides of a what-if are formatted as rows of its page here."""

from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from agents.models import AgentFile
from assembly.models import Proposal
from assembly.records.item_titles import file_title
from assembly.simulation.simulate import Overrides


@dataclass(frozen=True, slots=True)
class OverrideRow:
    """An override in words. `address` is the page on which it can be made permanent, "" if it is not one page."""

    label: str
    value: str
    address: str = ""
    is_code: bool = False


def override_rows(wishes: Overrides, proposal: Proposal | None = None, profile: str = "") -> list[OverrideRow]:
    """Return the overrides in the order of the form.

    For a proposal, each has the page on which it can be made permanent; `profile` is the profile of its context.
    """
    caps = [
        OverrideRow(
            _("Maximum tokens of %(section)s") % {"section": key.replace("_", " ")}, _cap(cap), _profile(profile)
        )
        for key, cap in wishes.caps.items()
    ]
    files = [
        OverrideRow(file_title(key), _("version %(number)s") % {"number": number}, _file(key, number, proposal))
        for key, number in wishes.files.items()
    ]
    rules = [
        OverrideRow(_("Without the rule"), name, reverse("rule_page", args=[name]) if proposal else "")
        for name in wishes.without_rules
    ]
    return [*_request_rows(wishes), *caps, *files, *rules, *_new_rule(wishes, proposal)]


def _request_rows(wishes: Overrides) -> list[OverrideRow]:
    """Return the overrides that another request can have, so there is nothing to publish."""
    found = []
    if wishes.max_tokens is not None:
        found.append(OverrideRow(_("Budget in tokens"), f"{wishes.max_tokens:,}"))
    if wishes.topic is not None:
        found.append(OverrideRow(_("Topic"), wishes.topic or _("none")))
    if wishes.profile is not None:
        found.append(OverrideRow(_("Profile"), wishes.profile))
    if wishes.tokenizer is not None:
        found.append(OverrideRow(_("Tokenizer"), wishes.tokenizer))
    return found


def _new_rule(wishes: Overrides, proposal: Proposal | None) -> list[OverrideRow]:
    if wishes.with_rule is None:
        return []
    address = f"{reverse('rule_new')}?as=text" if proposal else ""
    return [OverrideRow(_("With another rule"), wishes.with_rule, address, is_code=True)]


def _cap(cap: int | None) -> str:
    return _("none") if cap is None else f"{cap:,}"


def _profile(name: str) -> str:
    return reverse("profile_page", args=[name]) if name else ""


def _file(key: str, number: int, proposal: Proposal | None) -> str:
    """Return the page of the version, from which it can be restored."""
    if proposal is None:
        return ""
    of_agent = key in AgentFile.Key.values
    slug = proposal.agent_slug if of_agent else proposal.team_slug
    try:
        return reverse("agent_file_version" if of_agent else "team_file_version", args=[slug, key, number])
    except NoReverseMatch:
        return ""
