"""What the endpoints of proposals take and give."""

from typing import Any

from rest_framework import serializers

from assembly.again.what_if import BASES
from assembly.api.wishes_serializers import WishesSerializer
from assembly.models import Proposal
from assembly.models.proposal import MAX_NOTE_CHARACTERS
from config.http.api import StrictSerializer
from config.http.fields import ExactText

DECISIONS = [Proposal.Status.ACCEPTED.value, Proposal.Status.DISMISSED.value]


class ProposalCreateSerializer(StrictSerializer):
    assembly = serializers.UUIDField(error_messages={"invalid": "Use the id of an assembly."})
    wishes = WishesSerializer(help_text="What should be different, as `what-if` takes it.")
    note = ExactText(max_length=MAX_NOTE_CHARACTERS, required=False, allow_blank=True, default="", help_text="Why.")


class ProposalDecisionSerializer(StrictSerializer):
    status = serializers.ChoiceField(choices=DECISIONS)


class ProposalSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created = serializers.DateTimeField()
    assembly = serializers.UUIDField(help_text="The context on which it was tried; it may no longer be kept.")
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    wishes = serializers.DictField()
    note = serializers.CharField(allow_blank=True)
    basis = serializers.ChoiceField(choices=list(BASES))
    tokens_before = serializers.IntegerField()
    tokens_after = serializers.IntegerField()
    came_in = serializers.IntegerField(help_text="Items.")
    went = serializers.IntegerField(help_text="Items.")
    proposer = serializers.CharField(allow_blank=True)
    status = serializers.ChoiceField(choices=Proposal.Status.values)
    decided = serializers.DateTimeField(allow_null=True)
    decider = serializers.CharField(allow_null=True)
