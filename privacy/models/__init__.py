"""The models of `privacy` are subjects, what mentions them, and files with everything about one of them."""

from privacy.models.erasure import ErasureState, HoldKind, LegalHold, SubjectErasure
from privacy.models.subject import (
    IdentifierKind,
    MentionStatus,
    Subject,
    SubjectIdentifier,
    SubjectKind,
    SubjectMention,
    SubjectVersion,
    WithheldThing,
)
from privacy.models.subject_work import SubjectFile, SubjectScan

__all__ = [
    "ErasureState",
    "HoldKind",
    "IdentifierKind",
    "LegalHold",
    "MentionStatus",
    "Subject",
    "SubjectErasure",
    "SubjectFile",
    "SubjectIdentifier",
    "SubjectKind",
    "SubjectMention",
    "SubjectScan",
    "SubjectVersion",
    "WithheldThing",
]
