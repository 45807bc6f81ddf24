"""The models of `privacy` are subjects, what mentions them, files with everything about one, corrections, erasures."""

from privacy.models.correction import CorrectionResult, CorrectionStatus, SubjectCorrection
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
    "CorrectionResult",
    "CorrectionStatus",
    "ErasureState",
    "HoldKind",
    "IdentifierKind",
    "LegalHold",
    "MentionStatus",
    "Subject",
    "SubjectCorrection",
    "SubjectErasure",
    "SubjectFile",
    "SubjectIdentifier",
    "SubjectKind",
    "SubjectMention",
    "SubjectScan",
    "SubjectVersion",
    "WithheldThing",
]
