"""The folder `conflicts/` of an archive has what people decided on pairs of texts, so that nobody is asked again.

A decision names its texts by the hashes of what was compared, with the memory or file that has them. It is stored with
the pair, which the detection then finds decided.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Q
from rest_framework import serializers

from agents.models import Agent, AgentTeam
from assembly.conflicts.compared_texts import ComparedText, conflict_between, conflicts_between
from assembly.conflicts.services import conflict_decision_store
from assembly.engine.refs import Ref
from assembly.models import Conflict, ConflictKind, ConflictResolution, ConflictSide, ConflictStatus, text_hash
from assembly.models.conflict import MAX_MODEL_CHARACTERS, MAX_REASON_CHARACTERS, MAX_STATEMENT_CHARACTERS
from config.http.errors import Conflict as ConflictError
from config.http.errors import DossierError, Forbidden, NotFound
from config.http.serializers import ExactText, Fraction, StrictSerializer
from memories.archive.digests import ImportState
from memories.archive.item_names import ENDING, find_file, name_of_item
from memories.archive.json_section import JsonSection, json_text
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, ImportUnit, register
from memories.archive.text_section import text_entries
from memories.embeddings.file_splitting import passages_of_text
from memories.models import Memory
from memories.models.file_passage import FILE_KINDS, FILE_MODELS
from teams.models import Team
from teams.principal import Action, Principal

DECIDED = (ConflictResolution.LEFT, ConflictResolution.RIGHT, ConflictResolution.BOTH)
"""The decisions that archives have; after an edit, neither text of the pair exists in this form."""
ARCHIVED_KINDS = {"memory", *FILE_MODELS}
MISSING = "One of its texts is not here, or has other words, or you may not change it. So there is nothing to decide."
AGENT = "People decide on conflicts, and the key of an agent does not. Somebody may import it, or an admin key."
OTHERWISE = "Somebody decided otherwise here, which remains."
MAX_CUE_CHARACTERS = 500


class ArchivedSideSerializer(StrictSerializer):
    item = ExactText(max_length=500)
    sha256 = serializers.RegexField(r"\A[0-9a-f]{64}\Z")
    statement = ExactText(max_length=MAX_STATEMENT_CHARACTERS, allow_blank=True)


class ArchivedDecisionSerializer(StrictSerializer):
    """A decision in an archive: both sides, how they differ, and what a person decided."""

    left = ArchivedSideSerializer()
    right = ArchivedSideSerializer()
    kind = serializers.ChoiceField(choices=ConflictKind.values)
    cue = ExactText(max_length=MAX_CUE_CHARACTERS, allow_blank=True)
    similarity = Fraction()
    subject = Fraction()
    severity = Fraction()
    probability = Fraction()
    model = ExactText(max_length=MAX_MODEL_CHARACTERS, required=False, allow_blank=True, default="")
    resolution = serializers.ChoiceField(choices=[one.value for one in DECIDED])
    reason = ExactText(max_length=MAX_REASON_CHARACTERS, allow_blank=True)
    decided_by = ExactText(max_length=200, allow_blank=True)
    decided_at = serializers.DateTimeField()


MEASURES = ("kind", "cue", "similarity", "subject", "severity", "probability")


@dataclass(frozen=True, slots=True)
class FoundPair:
    """The texts of a decision as they are here, in the order of a conflict, and whether that order is another one."""

    left: ComparedText
    right: ComparedText
    is_swapped: bool

    def resolution(self, said: str) -> ConflictResolution:
        """Return the decision of the archive for the sides in the order here."""
        swapped = {"left": "right", "right": "left"}
        return ConflictResolution(swapped.get(said, said) if self.is_swapped else said)

    def stored(self) -> Conflict | None:
        """Return the conflict of these texts; None if there is none."""
        return conflicts_between(self.left, self.right).first()

    def new(self, said: Mapping[str, Any]) -> Conflict:
        """Return an unsaved conflict of these texts with the measures of the archive."""
        statements = [said[side]["statement"] for side in ("left", "right")]
        left_statement, right_statement = statements[::-1] if self.is_swapped else statements
        measures = {name: said[name] for name in (*MEASURES, "model")}
        return conflict_between(
            self.left, self.right, left_statement=left_statement, right_statement=right_statement, **measures
        )

    def is_writable_by(self, principal: Principal) -> bool:
        """Return whether the principal may write where both texts belong to; texts of all belong to admins."""
        agents = {one.agent_id for one in (self.left, self.right) if one.agent_id}
        teams = {one.team_id for one in (self.left, self.right) if one.team_id}
        of_organisation = not all(one.agent_id or one.team_id for one in (self.left, self.right))
        return (
            Agent.objects.permitting(Action.WRITE, principal).filter(id__in=agents).count() == len(agents)
            and Team.objects.permitting(Action.WRITE, principal).filter(id__in=teams).count() == len(teams)
            and (principal.is_admin or not of_organisation)
        )


class DecisionArchiveSection(JsonSection):
    folder = "conflicts"
    what = "decision on a conflict"

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        owned = Q(agent=None) | Q(agent__in=scope.agents)
        owned &= Q(team=None) | Q(team__in=scope.teams)
        rows = Conflict.objects.visible_to(scope.principal).filter(
            owned, status=ConflictStatus.RESOLVED, resolution__in=DECIDED
        )
        rows = rows if scope.organisation else rows.filter(of_organisation=False)
        exported = (row for row in rows.order_by("id") if {side.kind for side in row.sides} <= ARCHIVED_KINDS)
        texts = ((str(row.id), json_text(_document(row))) for row in exported)
        yield from text_entries(self.folder, texts, ending=self.ending)

    def change_of(self, unit: ImportUnit, principal: Principal) -> Callable[[str, str], ImportChange]:
        return partial(self._change, unit, principal)

    def _change(self, unit: ImportUnit, principal: Principal, within: str, _exported: str) -> ImportChange:
        try:
            _id, said = self.load(unit, within, ArchivedDecisionSerializer)
        except DossierError as fault:
            return self.refused(unit, within, fault.detail)
        state, reason, pair = ImportState.NEW, "", find_pair(said)
        if pair and not pair.is_writable_by(principal):
            pair = None  # the plan says nothing about texts of others, not even that they are here
        stored = pair.stored() if pair else None
        if pair is None and not all(_comes_with(unit, said[side]["item"]) for side in ("left", "right")):
            return self.refused(unit, within, MISSING)
        if pair and stored:
            if stored.resolution == pair.resolution(said["resolution"]):
                state = ImportState.SAME
            elif stored.resolution:
                state, reason = ImportState.REFUSED, OTHERWISE
        if state == ImportState.NEW and principal.kind == "agent_key":
            return self.refused(unit, within, AGENT)
        after = "\n".join([said["left"]["statement"], said["right"]["statement"], said["resolution"]])
        return ImportChange(
            name=unit.path(within), what=self.what, state=state, after=after, reason=reason, item=dict(said)
        )

    def save(self, name: str, change: ImportChange, import_context: ImportContext) -> None:
        said: Mapping[str, Any] = change.item
        pair = find_pair(said)
        if pair is None:
            raise ConflictError(MISSING)
        who = f"{said['decided_by'] or 'Dossier'} decided on {said['decided_at']:%Y-%m-%d}"
        reason = f"{said['reason']} ({who})" if said["reason"] else who
        try:
            conflict_decision_store(
                conflict=pair.stored() or pair.new(said),
                resolution=pair.resolution(said["resolution"]),
                reason=reason[:MAX_REASON_CHARACTERS],
                principal=import_context.principal,
            )
        except (Forbidden, NotFound):
            raise ConflictError(MISSING) from None


def _document(conflict: Conflict) -> dict[str, Any]:
    left, right = conflict.sides
    return {
        "left": _side_document(left),
        "right": _side_document(right),
        **{name: getattr(conflict, name) for name in MEASURES},
        **({"model": conflict.model} if conflict.model else {}),
        "resolution": conflict.resolution,
        "reason": conflict.reason,
        "decided_by": conflict.resolver_name,
        "decided_at": conflict.resolved_at.isoformat() if conflict.resolved_at else None,
    }


def _side_document(side: ConflictSide) -> dict[str, str]:
    return {"item": name_of_item(side.kind, side.item), "sha256": side.sha256.hex(), "statement": side.statement}


def _comes_with(unit: ImportUnit, item: str) -> bool:
    """Return whether the archive has the folder of the file, or a memory, whose file nobody knows before the import."""
    return not item.endswith(ENDING) or item in unit.contents.names


def find_pair(said: Mapping[str, Any]) -> FoundPair | None:
    """Return the texts of a decision as they are here; None if one has other words, or no context has both."""
    left, right = (_find_text(said[side]["item"], bytes.fromhex(said[side]["sha256"])) for side in ("left", "right"))
    if left is None or right is None or left.item == right.item or not _meet(left, right):
        return None
    first, second = sorted((left, right), key=lambda one: (one.item, one.ref))
    return FoundPair(first, second, first is not left)


def _meet(left: ComparedText, right: ComparedText) -> bool:
    """Return whether contexts may include both texts, as the detection compares them."""
    if len({left.agent_id, right.agent_id} - {None}) > 1 or len({left.team_id, right.team_id} - {None}) > 1:
        return False
    agent, team = left.agent_id or right.agent_id, left.team_id or right.team_id
    return agent is None or team is None or AgentTeam.objects.filter(agent_id=agent, team_id=team).exists()


def _find_text(item: str, sha256: bytes) -> ComparedText | None:
    if item.endswith(ENDING):
        return _find_passage(item, sha256)
    named = Ref.parse(item)
    try:
        id_ = UUID(named.id)
    except ValueError:
        return None
    memory = Memory.objects.filter(id=id_).first() if named.kind == "memory" else None
    if memory is None or text_hash(memory.text) != sha256:
        return None
    return ComparedText(memory.ref, memory.id, memory.text, memory.agent_id, memory.team_id)


def _find_passage(name: str, sha256: bytes) -> ComparedText | None:
    file = find_file(name)
    if file is None:
        return None
    facts = {"file_kind": FILE_KINDS[type(file)], "file_id": file.pk, "file_version": file.version}
    owner = {column: getattr(file, column) for column in ("agent_id", "team_id") if hasattr(file, column)}
    for passage in passages_of_text(file.content, **facts, **owner):
        if text_hash(passage.text) == sha256:
            return ComparedText(passage.ref, file.pk, passage.text, passage.agent_id, passage.team_id)
    return None


register(DecisionArchiveSection())
