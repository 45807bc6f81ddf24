"""The folder `recall-tests/` of an archive has the recall tests of the exported teams and agents, one per file.

A file is named by the id of its test. Its expectations name files by their paths in the archive, and memories by their
ids, so both hold in another installation, too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Q
from rest_framework import serializers

from assembly.engine.refs import Ref
from assembly.models import RecallTest
from assembly.monitoring.alerts.watch import alerts_lock
from assembly.recall_tests.expectations import Expectation, expectations_from, split_ref
from assembly.recall_tests.serializers import RecallTestCreateSerializer
from assembly.recall_tests.services import (
    RecallFacts,
    may_edit,
    recall_owners_for,
    recall_test_archive,
    recall_test_create,
    recall_test_save,
    recall_tests_visible_to,
    require_test_change_allowed,
)
from config.http.errors import DossierError, Invalid, NotFound
from config.http.serializers import Flag
from memories.archive.digests import ImportState, state_of, text_digest
from memories.archive.item_names import name_of_item, ref_of_item
from memories.archive.json_section import JsonSection, json_text
from memories.archive.owner_entries import with_kept_level
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, ImportUnit, register
from memories.archive.text_section import text_entries
from memories.models.file_passage import FILE_MODELS
from teams.api.serializers import LevelField
from teams.level_changes import require_level
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, Sensitivity

ELSEWHERE = "A recall test with this id belongs to another team or agent here."


class ArchivedTestSerializer(RecallTestCreateSerializer):
    """A recall test in an archive. `expectations` name files by their paths."""

    agent = serializers.CharField(max_length=60, allow_blank=True, default="")  # type: ignore[assignment]
    team = serializers.CharField(max_length=60, allow_blank=True, default="")  # type: ignore[assignment]
    archived = Flag(default=False)
    sensitivity = LevelField(default=DEFAULT_LEVEL)


@dataclass(frozen=True, slots=True)
class ArchivedTest:
    """A recall test as an archive has it."""

    agent: str
    team: str
    facts: RecallFacts
    archived: bool
    sensitivity: int = DEFAULT_LEVEL

    @property
    def text(self) -> str:
        """The text of its file."""
        facts, level = self.facts, Sensitivity(self.sensitivity)
        return json_text(
            {
                "agent": self.agent,
                "team": self.team,
                "name": facts.name,
                "topic": facts.topic,
                "profile": facts.profile,
                "max_tokens": facts.budget,
                "expectations": [_expectation_document(one) for one in facts.expectations],
                "archived": self.archived,
                **({"sensitivity": level.export_word} if level != DEFAULT_LEVEL else {}),
            }
        )

    @property
    def owner_folder(self) -> str:
        """The folder of the archive that has the owner of the test."""
        return f"teams/{self.team}" if self.team else f"agents/{self.agent}"


class RecallTestArchiveSection(JsonSection):
    folder = "recall-tests"
    what = "recall test"

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        owned = Q(team__in=scope.teams) | Q(team=None, agent__in=scope.agents)
        rows = recall_tests_visible_to(scope.principal).filter(owned).order_by("id")
        yield from text_entries(self.folder, ((str(row.id), _archived(row).text) for row in rows), ending=self.ending)

    def change_of(self, unit: ImportUnit, principal: Principal) -> Callable[[str, str], ImportChange]:
        return partial(self._change, unit, principal)

    def _change(self, unit: ImportUnit, principal: Principal, within: str, exported: str) -> ImportChange:
        try:
            id_, said = self.load(unit, within, ArchivedTestSerializer)
            incoming = _parse(said)
            here = recall_tests_visible_to(principal).filter(id=id_).first()
            _require_writable(here, incoming, unit, principal)
        except DossierError as fault:
            return self.refused(unit, within, fault.detail)
        wanted, level = incoming.sensitivity, here.sensitivity if here else incoming.sensitivity
        incoming = replace(incoming, sensitivity=max(wanted, level))
        before, after = _archived(here).text if here else "", incoming.text
        mark = text_digest(before) if here else None
        state = state_of(exported=exported, incoming=text_digest(after), here=mark)
        if here and state is ImportState.NEWER and replace(_archived(here), sensitivity=wanted).text == after:
            state = ImportState.CHANGED  # it was lowered here, and nothing else differs
        change = ImportChange(
            name=unit.path(within),
            what=self.what,
            state=state,
            version=here.version if here else 0,
            before=before,
            after=after,
            item=(id_, incoming),
        )
        return with_kept_level(change, wanted, level) if wanted < level else change

    def save(self, name: str, change: ImportChange, import_context: ImportContext) -> None:
        id_, incoming = change.item
        alerts_lock()  # before the test is locked, which may be archived below
        principal, facts = import_context.principal, _with_refs(incoming.facts)
        test = recall_tests_visible_to(principal).filter(id=id_).first()
        if test is None:
            agent, team = recall_owners_for(principal, agent=incoming.agent, team=incoming.team)
            level = incoming.sensitivity
            require_level(principal, RecallTest(agent=agent, team=team), level)
            test = recall_test_create(
                agent=agent, team=team, facts=facts, principal=principal, id_=id_, sensitivity=level
            )
        else:
            level = incoming.sensitivity
            require_level(principal, test, level)
            test = recall_test_save(
                test=test, facts=facts, expected_version=change.version, principal=principal, sensitivity=level
            )
        recall_test_archive(test=test, archived=incoming.archived, principal=principal)


def _archived(test: RecallTest) -> ArchivedTest:
    facts = RecallFacts(
        name=test.name,
        topic=test.topic,
        profile=test.profile,
        budget=test.budget,
        expectations=[
            Expectation(one.kind, ref=_portable(one.ref) if one.ref else "", text=one.text)
            for one in expectations_from(test.expectations)
        ],
    )
    agent, team = (owner.slug if owner else "" for owner in (test.agent, test.team))
    return ArchivedTest(agent, team, facts, test.archived is not None, test.sensitivity)


def _portable(ref: str) -> str:
    """Return the item's name in archives; the ref itself for an item that is not part of them."""
    item, _part = split_ref(ref)
    named = Ref.parse(item)
    return (name_of_item(named.kind, UUID(named.id)) or ref) if named.kind in FILE_MODELS else ref


def _expectation_document(expectation: Expectation) -> dict[str, str]:
    named = {"text": expectation.text} if expectation.text else {"ref": expectation.ref}
    return {"kind": expectation.kind, **named}


def _parse(said: Mapping[str, Any]) -> ArchivedTest:
    expected = [Expectation(one["kind"], one.get("ref", ""), one.get("text", "")) for one in said["expectations"]]
    facts = RecallFacts(
        name=said["name"],
        topic=said["topic"],
        profile=said["profile"],
        budget=said["max_tokens"],
        expectations=expected,
    )
    return ArchivedTest(said["agent"], said["team"], facts, said["archived"], said["sensitivity"])


def _with_refs(facts: RecallFacts) -> RecallFacts:
    """Return the facts with the refs of the items here. Raises Invalid for a file that is not here."""
    expected = []
    for one in facts.expectations:
        ref = ref_of_item(one.ref) if one.ref else ""
        if one.ref and not ref:
            raise Invalid("expectations", f"There is no item “{one.ref}” here.", "unknown")
        expected.append(Expectation(one.kind, ref, one.text))
    return RecallFacts(
        name=facts.name, topic=facts.topic, profile=facts.profile, budget=facts.budget, expectations=expected
    )


def _require_writable(here: RecallTest | None, incoming: ArchivedTest, unit: ImportUnit, principal: Principal) -> None:
    """Check that the principal may write the test, whose owner may come with the archive. Raises DossierError."""
    if here is not None:
        if not may_edit(principal, here):
            raise Invalid("team", "You may read this recall test, but not change it. Ask an admin of the team.")
        require_test_change_allowed(principal, here)
        if (_archived(here).agent, _archived(here).team) != (incoming.agent, incoming.team):
            raise Invalid("team", ELSEWHERE)
        return
    try:
        recall_owners_for(principal, agent=incoming.agent, team=incoming.team)
    except NotFound:
        if not (principal.is_admin and unit.contents.has_folder(incoming.owner_folder)):
            raise


register(RecallTestArchiveSection())
