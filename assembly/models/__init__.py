"""The record of assemblies, and the profiles and rules that they follow."""

from assembly.models.alert import Alert, AlertKind
from assembly.models.change import ChangeCounter
from assembly.models.context_file import ContextFile, ContextFilePart
from assembly.models.count import DayCount, MemoryTelling
from assembly.models.external import ExternalSource
from assembly.models.piece import Piece, StoredText, text_hash
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.proposal import Proposal
from assembly.models.record import Assembly, AssemblyQuerySet, NewAssembly
from assembly.models.retention import AssemblyFlag, Pruning, RetentionPolicy, UnusedPiece
from assembly.models.rule import StoredRule, StoredRuleVersion
from assembly.models.seal import FollowFailure, Seal
from assembly.models.summary import StoredSummary
from assembly.models.token_count import TokenCount
from assembly.models.webhook import Webhook, WebhookDelivery, WebhookEvent

__all__ = [
    "Alert",
    "AlertKind",
    "Assembly",
    "AssemblyFlag",
    "AssemblyQuerySet",
    "ChangeCounter",
    "ContextFile",
    "ContextFilePart",
    "DayCount",
    "ExternalSource",
    "FollowFailure",
    "MemoryTelling",
    "NewAssembly",
    "Piece",
    "Proposal",
    "Pruning",
    "RetentionPolicy",
    "Seal",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredSummary",
    "StoredText",
    "TokenCount",
    "UnusedPiece",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
    "text_hash",
]
