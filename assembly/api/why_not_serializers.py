"""What the answer to “why is it not in?” holds over REST."""

from typing import Any

from rest_framework import serializers

from assembly.api.serializers import DecisionSerializer
from assembly.engine.codes import DECISION_CODES
from assembly.whynot.changes import KINDS
from assembly.whynot.unconsidered import WHYS


class MatchSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    section = serializers.CharField()
    title = serializers.CharField()
    code = serializers.ChoiceField(choices=DECISION_CODES)
    included = serializers.BooleanField()


class NeighbourSerializer(MatchSerializer):
    rank = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True)
    tokens_full = serializers.IntegerField()


class StandingSerializer(serializers.Serializer[Any]):
    cap = serializers.IntegerField(allow_null=True, help_text="Of its section; null: what remains of the budget.")
    used_before = serializers.IntegerField(help_text="Tokens that were used when its section's turn came.")
    around = NeighbourSerializer(many=True, help_text="Those that ranked around it, itself among them, the best first.")
    above = serializers.IntegerField(help_text="So many rank above the first of them.")
    below = serializers.IntegerField(help_text="So many rank below the last of them.")


class ChangeSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=KINDS)
    section = serializers.CharField()
    ref = serializers.CharField()
    value = serializers.FloatField(help_text="What becomes of the number that the kind names; 0 where it has none.")
    name = serializers.CharField(allow_blank=True, help_text="What a rule finds it by, the rules, or the other's ref.")


class RemedySerializer(serializers.Serializer[Any]):
    sentence = serializers.CharField()
    changes = ChangeSerializer(many=True, help_text="Made together, in this order, they bring it in.")
    least = serializers.BooleanField(help_text="One step less of the last was tried, and does not bring it in.")
    whole = serializers.BooleanField(help_text="It is what brings in all of it; less may bring in a part.")
    code = serializers.ChoiceField(choices=DECISION_CODES, help_text="What then becomes of it.")
    awaits_summary = serializers.BooleanField(help_text="It comes in as a summary that is to be made yet.")
    tokens = serializers.IntegerField(help_text="Of the whole context then.")
    cost = serializers.CharField(help_text="What it does to the others, in a sentence.")
    pushed_out = serializers.ListField(child=serializers.CharField(), help_text="Refs of what would go.")
    newly_cut = serializers.ListField(child=serializers.CharField(), help_text="Refs of what would be told shorter.")
    newly_in = serializers.ListField(child=serializers.CharField(), help_text="Refs of what would come in, itself too.")


class UnconsideredSerializer(serializers.Serializer[Any]):
    why = serializers.ChoiceField(choices=WHYS)
    sentence = serializers.CharField()
    ref = serializers.CharField(allow_null=True, help_text="Of what is there today.")
    name = serializers.CharField(allow_null=True)


class WhyNotSerializer(serializers.Serializer[Any]):
    considered = serializers.BooleanField()
    reason = serializers.CharField(help_text="The answer in a sentence.")
    decision = DecisionSerializer(allow_null=True, help_text="What became of it; null where it was not considered.")
    standing = StandingSerializer(allow_null=True)
    remedies = RemedySerializer(many=True, help_text="What would bring it in, each proved by running the engine.")
    untried = serializers.ListField(
        child=serializers.ChoiceField(choices=KINDS), help_text="What there was no time to try."
    )
    matches = MatchSerializer(many=True, help_text="All that could be meant, the one of this answer first.")
    unconsidered = UnconsideredSerializer(many=True, help_text="Why what could be meant was not considered.")
