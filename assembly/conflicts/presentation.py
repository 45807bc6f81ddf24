"""A conflict as its pages show it: both sides with their differing words marked, and what each decision would do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assembly.conflicts.restoration import restorations_of
from assembly.conflicts.services import Choice
from assembly.conflicts.sides import SideText, side_texts
from assembly.engine.reconciliation import MINOR_SEVERITY
from assembly.engine.refs import Ref
from assembly.models import (
    Assembly,
    Conflict,
    ConflictDecision,
    ConflictKind,
    ConflictResolution,
    ConflictSide,
    GoneReason,
    Piece,
    StoredText,
)
from assembly.models.encryption import read_texts
from assembly.records.item_titles import file_title
from memories.models.file_passage import FILE_MODELS
from teams.principal import Principal
from teams.text_diff.difference import DiffRun, diff_runs

MAX_CONTEXTS = 10
MAX_DECISIONS = 20
MAX_PIECES = 200
"""The most considered versions of the sides that are looked up in contexts."""

HEADINGS: Mapping[str, str | Promise] = {
    ConflictKind.NUMBER: gettext_lazy("Two texts name different numbers"),
    ConflictKind.DATE: gettext_lazy("Two texts name different dates"),
    ConflictKind.TIME: gettext_lazy("Two texts name different times"),
    ConflictKind.NEGATION: gettext_lazy("One text denies what the other one says"),
    ConflictKind.STATE: gettext_lazy("Two texts name opposite states"),
    ConflictKind.PROPERTY: gettext_lazy("Two texts name different values"),
    ConflictKind.MEANING: gettext_lazy("One text contradicts the other one"),
    ConflictKind.DUPLICATE: gettext_lazy("Two texts say the same"),
}


@dataclass(frozen=True, slots=True)
class SideView:
    """One side: its words, of which those that the other side does not have are marked, and its pages.

    `address` is empty if the item does not exist any more. `whole` is the text if it has more than the statement.
    """

    choice: Choice
    text: SideText
    name: str
    runs: tuple[DiffRun, ...]
    address: str
    edit_address: str

    @property
    def marked(self) -> SafeString:
        """The statement as HTML."""
        parts = (format_html("<mark>{}</mark>" if run.changed else "{}", run.text) for run in self.runs)
        return format_html_join("", "{}", ((part,) for part in parts))

    @property
    def whole(self) -> str:
        """The text around the statement; empty if there is none."""
        text = self.text.text
        return text if text.strip() != self.text.side.statement.strip() else ""

    @property
    def is_memory(self) -> bool:
        """This tells whether the side is a memory, whose text can be edited on the page of the conflict."""
        return self.text.side.kind == "memory"


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A conflict with both sides. `may_resolve`: whether the person may decide on it or undo the decision."""

    conflict: Conflict
    left: SideView
    right: SideView
    may_resolve: bool
    is_waiting: bool

    @property
    def sides(self) -> tuple[SideView, SideView]:
        return self.left, self.right

    @property
    def heading(self) -> str:
        """This sentence says what kind of contradiction it is."""
        return str(HEADINGS[self.conflict.kind])

    @property
    def is_current(self) -> bool:
        """This tells whether both texts are those that were compared."""
        return self.left.text.is_current and self.right.text.is_current

    @property
    def may_decide(self) -> bool:
        """This tells whether the person may decide now."""
        return self.may_resolve and self.is_waiting and self.is_current

    @property
    def may_undo(self) -> bool:
        """This tells whether the person may undo the decision."""
        return self.may_resolve and bool(self.conflict.resolution)

    @property
    def why_gone(self) -> str:
        """This sentence says why there is nothing to decide any more."""
        if self.conflict.gone_because == GoneReason.NOT_FOUND:
            return _(
                "Detection no longer finds it when it compares the texts, so there is nothing to decide. "
                "If it is found again, the conflict opens again."
            )
        return _(
            "One of the texts was changed or deleted since, so there is nothing to decide. New texts are compared anew."
        )

    @property
    def why_not_waiting(self) -> str:
        """This sentence says why there is nothing to decide about an open conflict."""
        if self.conflict.is_apart:
            return _(
                "The agent no longer works in the team of the other text, so no context has both, and there is nothing "
                "to decide."
            )
        return _("A memory is archived or superseded, so contexts do not include it, and there is nothing to decide.")

    @property
    def until_decided(self) -> str:
        """This sentence says what contexts do with the sides as long as nobody decides."""
        if self.conflict.is_duplicate:
            return _("Contexts include the better one of both, so you need not decide.")
        if self.conflict.severity < MINOR_SEVERITY:
            return _("Until somebody decides, contexts include the text that takes precedence, without a mark.")
        return _(
            "Until somebody decides, contexts include the text that takes precedence and mark it as disputed, "
            "unless their profile says otherwise."
        )

    @property
    def outcome(self) -> str:
        """This sentence says what a person decided; it is empty if nobody did."""
        if self.conflict.resolution == ConflictResolution.LEFT:
            return _("The first text holds: %(name)s.") % {"name": self.left.name}
        if self.conflict.resolution == ConflictResolution.RIGHT:
            return _("The second text holds: %(name)s.") % {"name": self.right.name}
        if self.conflict.resolution == ConflictResolution.BOTH:
            return _("Both texts hold.")
        return _("One of the texts was edited to agree with the other one.") if self.conflict.resolution else ""

    @property
    def if_left(self) -> str:
        """This sentence says what happens if the left side holds."""
        return consequence(self.left, self.right)

    @property
    def if_right(self) -> str:
        """This sentence says what happens if the right side holds."""
        return consequence(self.right, self.left)

    @property
    def newer(self) -> Choice | None:
        """The side that was written later; None if that is not known."""
        left, right = self.left.text.written, self.right.text.written
        if left is None or right is None or left == right:
            return None
        return "left" if left > right else "right"


def consequence(winner: SideView, loser: SideView) -> str:
    """Return what happens to the other side if the winner holds, in a sentence."""
    names = {"name": loser.name}
    if loser.text.side.kind in FILE_MODELS:
        return (
            _(
                "%(name)s stays as it is. Contexts leave this passage out if the text that holds is among what they "
                "found; contexts without that text, or with the whole file, keep the passage, so edit it, too."
            )
            % names
        )
    if loser.text.side.kind != "memory":
        return (
            _("%(name)s stays as it is. Contexts leave it out if the text that holds is among what they found.") % names
        )
    same_owner = (winner.text.agent_slug, winner.text.team_slug) == (loser.text.agent_slug, loser.text.team_slug)
    if winner.text.side.kind == "memory" and same_owner:
        return _("The other memory is superseded by this one, and contexts no longer include it.")
    return _("The other text (%(name)s) is archived with your reason, and contexts no longer include it.") % names


def conflict_views(principal: Principal, conflicts: Iterable[Conflict]) -> list[ConflictView]:
    """Return the conflicts with their sides and what the person may do; two queries more, and two per kind of item."""
    rows = list(conflicts)
    ids = [conflict.id for conflict in rows]
    resolvable = set(Conflict.objects.resolvable_by(principal).filter(id__in=ids).values_list("id", flat=True))
    waiting = set(Conflict.objects.waiting().filter(id__in=ids).values_list("id", flat=True))
    texts = side_texts(rows)
    return [
        ConflictView(conflict, *_side_views(*texts[conflict.id]), conflict.id in resolvable, conflict.id in waiting)
        for conflict in rows
    ]


def _side_views(left: SideText, right: SideText) -> tuple[SideView, SideView]:
    runs = diff_runs(left.side.statement, right.side.statement)
    of_left = (run for run in runs if run.kind != "added")
    of_right = (run for run in runs if run.kind != "removed")
    return _side_view("left", left, _marked(of_left)), _side_view("right", right, _marked(of_right))


def _marked(runs: Iterable[DiffRun]) -> tuple[DiffRun, ...]:
    """Return the runs with the white space at the end of a marked one apart: it is not marked."""
    parts = ((run, run.text.rstrip()) if run.changed else (run, run.text) for run in runs)
    split = ((DiffRun(run.kind, words), DiffRun("equal", run.text[len(words) :])) for run, words in parts)
    return tuple(run for pair in split for run in pair if run.text)


def _side_view(choice: Choice, text: SideText, runs: tuple[DiffRun, ...]) -> SideView:
    address, edit_address = _addresses(text) if text.written else ("", "")
    return SideView(choice, text, _name(text), runs, address, edit_address)


def _name(text: SideText) -> str:
    """Return the name of an item with its owner: “Memory of Luna”."""
    kind = text.side.kind
    if not text.written:
        return _("A deleted text")
    if kind == "memory":
        return _("Memory of %(owner)s") % {"owner": text.owner}
    title = file_title(text.key) if text.key and text.owner else text.title
    return _("%(title)s of %(owner)s") % {"title": title, "owner": text.owner or _("the organisation")}


def _addresses(text: SideText) -> tuple[str, str]:
    """Return the page of the item and the one on which it is edited."""
    id_, kind = text.side.item, text.side.kind
    if kind == "memory":
        return reverse("memory", args=[id_]), reverse("memory_edit", args=[id_])
    if kind in FILE_MODELS:
        owner = text.agent_slug or text.team_slug
        place = [owner, text.key] if owner else [text.key]
        return reverse(f"{kind}_version", args=[*place, text.version]), reverse(kind, args=place)
    page = "document" if kind == "chunk" else kind
    return reverse(page, args=[text.agent_slug, id_]), reverse(f"{page}_edit", args=[text.agent_slug, id_])


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A person decided this, or undid it; `told` says what became of the memory, and is empty for a decision."""

    decision: ConflictDecision
    told: str


def decision_views(conflict: Conflict) -> list[DecisionView]:
    """Return the newest decisions on a conflict; one query."""
    newest = conflict.decisions.order_by("-created", "-id")[:MAX_DECISIONS]
    return [DecisionView(one, " ".join(done.told for done in restorations_of(one))) for one in newest]


@dataclass(frozen=True, slots=True)
class IncludingContext:
    """A context that included one or both of the sides as they were compared."""

    context: Assembly
    left: bool
    right: bool


def including_contexts(conflict: Conflict, principal: Principal) -> list[IncludingContext]:
    """Return the newest contexts that included a side and that the principal may see; three queries at most.

    A file counts as included where it was included whole with the statement in it.
    """
    left, right = conflict.sides
    of_left, of_right = (_pieces_of(side) for side in (left, right))
    ids = [*of_left, *of_right]
    if not ids:
        return []
    contexts = Assembly.objects.for_agents().visible_to(principal).filter(told__overlap=ids)
    newest = contexts.defer("body", "omitted", "codes").order_by("-id")[:MAX_CONTEXTS]
    return [
        IncludingContext(context, not of_left.isdisjoint(context.told), not of_right.isdisjoint(context.told))
        for context in newest
    ]


def _pieces_of(side: ConflictSide) -> set[int]:
    """Return the ids of the pieces with the side's text, or with the whole file that has its statement."""
    named = f"{side.kind}:{side.item}"
    is_file = side.kind in FILE_MODELS
    wanted = Q(text_sha256=side.sha256) | Q(named=named) if is_file else Q(text_sha256=side.sha256)
    found = Piece.objects.filter(wanted).order_by("-id").values_list("id", "ref", "text_sha256")[:MAX_PIECES]
    mine = [(id_, bytes(sha256)) for id_, ref, sha256 in found if _is_of(ref, side.item)]
    others = {sha256 for _id, sha256 in mine} - {side.sha256}
    rows = StoredText.objects.filter(sha256__in=others).values_list("sha256", "text", "sealed") if others else ()
    texts = {side.sha256, *(sha256 for sha256, text in read_texts(rows).items() if side.statement in text)}
    return {id_ for id_, sha256 in mine if sha256 in texts}


def _is_of(ref: str, item: UUID) -> bool:
    return Ref.parse(ref).id == str(item)
