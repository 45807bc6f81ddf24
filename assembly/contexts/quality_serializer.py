"""The serializer of the measures of a context's quality, which are those of the memory contract."""

from typing import Any

from rest_framework import serializers


class QualitySerializer(serializers.Serializer[Any]):
    source_coverage = serializers.FloatField(
        help_text="Asked scopes with an included item, among those with candidates or failed sources, 0 to 1."
    )
    completeness = serializers.FloatField(help_text="Share of the named entities that the content names, 0 to 1.")
    contradiction_rate = serializers.FloatField(
        help_text="Share of the included items that are in an unresolved conflict or repeat another one, 0 to 1."
    )
    coherence_score = serializers.FloatField(
        allow_null=True, help_text="How well the items fit together, 0 to 1; null: of none it is known."
    )
    quality_achieved = serializers.FloatField(
        allow_null=True, help_text="Mean relevance of what was searched for and is in, 0 to 1; null without a topic."
    )
    conflict_ids = serializers.ListField(
        child=serializers.CharField(), help_text="The unresolved conflicts that `contradiction_rate` counts."
    )
