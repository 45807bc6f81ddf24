"""The record of assemblies, and the profiles and rules that they follow."""

from assembly.models.alert import Alert, AlertKind
from assembly.models.change import ChangeCounter
from assembly.models.count import DayCount, MemoryTelling
from assembly.models.external import ExternalSource
from assembly.models.piece import Piece, StoredText, text_hash
from assembly.models.profile import StoredProfile, StoredProfileVersion
from assembly.models.record import Assembly, AssemblyQuerySet, NewAssembly
from assembly.models.rule import StoredRule, StoredRuleVersion
from assembly.models.summary import StoredSummary
from assembly.models.webhook import Webhook, WebhookDelivery, WebhookEvent

__all__ = [
    "Alert",
    "AlertKind",
    "Assembly",
    "AssemblyQuerySet",
    "ChangeCounter",
    "DayCount",
    "ExternalSource",
    "MemoryTelling",
    "NewAssembly",
    "Piece",
    "StoredProfile",
    "StoredProfileVersion",
    "StoredRule",
    "StoredRuleVersion",
    "StoredSummary",
    "StoredText",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
    "text_hash",
]
