"""The models of `assembly` are the records of contexts, profiles, rules, alerts, webhooks and seals."""

from assembly.models.assembly import (
    Assembly,
    AssemblyQuerySet,
    NewAssembly,
    Piece,
    Purpose,
    RaisedText,
    StoredText,
    text_hash,
)
from assembly.models.caches import ChangeCounter, StoredSummary, TextLevel, TokenCount, UnlevelledItem
from assembly.models.conflict import (
    Conflict,
    ConflictAction,
    ConflictDecision,
    ConflictKind,
    ConflictResolution,
    ConflictSide,
    ConflictStatus,
    ConflictStrategy,
    GoneReason,
    UncomparedItem,
)
from assembly.models.export import ContextFile, ContextFilePart
from assembly.models.external_source import ExternalSource
from assembly.models.feedback import AssemblyFeedback, AssemblyQuality, ProfileTuning, TuningChange, TuningWindow
from assembly.models.learned_weights import LearnedWeights, ShadowReport
from assembly.models.memory_request import MemoryRequest
from assembly.models.monitoring import (
    Alert,
    AlertKind,
    DayCount,
    FileLoss,
    MemoryTelling,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from assembly.models.notification import Notification, NotificationKind
from assembly.models.proposal import Proposal
from assembly.models.recall_test import PublicationGuard, RecallResult, RecallTest, RecallTrigger
from assembly.models.retention import (
    AssemblyFlag,
    Pruning,
    RecordErasure,
    RetentionPolicy,
    UnusedKey,
    UnusedPiece,
)
from assembly.models.seal import FollowFailure, Seal
from assembly.models.versioned_documents import StoredProfile, StoredProfileVersion, StoredRule, StoredRuleVersion

__all__ = [
    "Alert",
    "AlertKind",
    "Assembly",
    "AssemblyFeedback",
    "AssemblyFlag",
    "AssemblyQuality",
    "AssemblyQuerySet",
    "ChangeCounter",
    "Conflict",
    "ConflictAction",
    "ConflictDecision",
    "ConflictKind",
    "ConflictResolution",
    "ConflictSide",
    "ConflictStatus",
    "ConflictStrategy",
    "ContextFile",
    "ContextFilePart",
    "DayCount",
    "ExternalSource",
    "FileLoss",
    "FollowFailure",
    "GoneReason",
    "LearnedWeights",
    "MemoryRequest",
    "MemoryTelling",
    "NewAssembly",
    "Notification",
    "NotificationKind",
    "Piece",
    "ProfileTuning",
    "Proposal",
    "Pruning",
    "PublicationGuard",
    "Purpose",
    "RaisedText",
    "RecallResult",
    "RecallTest",
    "RecallTrigger",
    "RecordErasure",
    "RetentionPolicy",
    "Seal",
    "ShadowReport",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredSummary",
    "StoredText",
    "TextLevel",
    "TokenCount",
    "TuningChange",
    "TuningWindow",
    "UncomparedItem",
    "UnlevelledItem",
    "UnusedKey",
    "UnusedPiece",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
    "text_hash",
]
