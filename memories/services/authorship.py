"""Agents' keys may not change what people wrote in a team. Who only rates a memory by feedback does not write it."""

from django.db.models import Exists, OuterRef

from memories.embeddings.vectors import embed_rows
from memories.models import Memory, MemoryVersion
from memories.services.announcements import announce_in_reach
from teams.access import KEY_REF, require_change_allowed
from teams.principal import Principal

FEEDBACK_NOTE = "Feedback on a context"
"""The note of the versions that feedback makes. Their text is that of the version before."""


def require_changeable(principal: Principal, *memories: Memory) -> None:
    """Check that the principal may change or delete these memories, which have one owner.

    Raises Forbidden for an agent's key where a person wrote a version of one, in a team that does not allow such
    changes.
    """
    if principal.kind != "agent_key" or memories[0].team_id is None:
        return
    versions = MemoryVersion.objects.filter(file__in=[memory.pk for memory in memories])
    before = MemoryVersion.everything.filter(
        file=OuterRef("file"), version=OuterRef("version") - 1, sha256=OuterRef("sha256")
    )
    same_text = versions.exclude(editor_ref__startswith=KEY_REF).filter(Exists(before))
    # Notes are compared here, because they may be sealed.
    by_feedback = [id_ for id_, note in same_text.values_list("id", "note") if note == FEEDBACK_NOTE]
    require_change_allowed(principal, memories[0].team, versions.exclude(id__in=by_feedback))


def memory_rate(*, memory: Memory, credibility: float, principal: Principal) -> None:
    """Store the credibility of a locked memory, which feedback moved, as its next version.

    The version names who gave the feedback; the memory keeps its author.
    """
    memory.credibility = credibility
    memory.version += 1
    if is_embedded := not memory.is_searched:
        embed_rows([memory])  # what is saved is hot again
    memory.save()
    if is_embedded:
        announce_in_reach(Memory, [memory.id])
    version = memory.as_version(FEEDBACK_NOTE)
    version.credited_to(principal.author)
    version.save(force_insert=True)
