"""These serializers validate two parts of a request for a context: `strategy` (weights, caps, shares, sections,
overflow) and `budgets`.
"""

from typing import Any, get_args

from rest_framework import serializers

from assembly.engine.profile import DOMAINS, MAX_PERCENT, STEPS, CutAt
from assembly.engine.types import LEVEL_PREFERENCES
from assembly.pipeline.request import MAX_TIME_MS, MIN_TIME_MS
from assembly.profiles.parser import MAX_CAP, MAX_DEPTH_LIMIT, MAX_SECTIONS, MAX_TOP_K, MAX_WEIGHT, SECTION_KEY
from config.http.serializers import ExactText, Flag, Fraction, StrictSerializer
from memories.api.fields import choice_field


class BoundedNumberField(serializers.FloatField):
    """A serializer field for a JSON number from 0 to `most`."""

    default_error_messages = {"range": "Use a number from 0 to {most:,}."}

    def __init__(self, most: int, **options: Any) -> None:
        self.most = most
        super().__init__(min_value=0, max_value=most, **options)

    def to_internal_value(self, data: Any) -> float:
        # The comparison refuses NaN, and refuses huge integers before they are converted to a float.
        if isinstance(data, bool) or not isinstance(data, int | float) or not 0 <= data <= self.most:
            self.fail("range", most=self.most)
        return float(data)


class SectionMapField(serializers.DictField):
    """A serializer field for a JSON object with section keys as its keys."""

    default_error_messages = {
        "key": "Use the keys of sections, as in recent_events.",
        "many": f"Name at most {MAX_SECTIONS} sections.",
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, dict) and len(data) > MAX_SECTIONS:
            self.fail("many")
        if isinstance(data, dict) and not all(SECTION_KEY.fullmatch(key) for key in data):
            self.fail("key")
        return super().to_internal_value(data)


class OverBudgetStepsField(serializers.ListField):
    """A serializer field for a list of overflow steps, each at most once, in their fixed order."""

    default_error_messages = {"order": f"Name each step once at most, in this order: {', '.join(STEPS)}."}

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or data != [step for step in STEPS if step in data]:
            self.fail("order")
        return list(data)


class WeightsSerializer(StrictSerializer):
    recency = BoundedNumberField(MAX_WEIGHT, required=False)
    relevance = BoundedNumberField(MAX_WEIGHT, required=False)
    salience = BoundedNumberField(MAX_WEIGHT, required=False)
    credibility = BoundedNumberField(MAX_WEIGHT, required=False)
    coherence = BoundedNumberField(MAX_WEIGHT, required=False)


class StrategySerializer(StrictSerializer):
    weights = WeightsSerializer(required=False, help_text="How much each score counts; the profile's unless given.")
    domain = choice_field(
        DOMAINS,
        required=False,
        help_text="The domain of the work, whose weights count unless `weights` has others.",
    )
    depth_limit = serializers.IntegerField(
        min_value=0, max_value=MAX_DEPTH_LIMIT, required=False, help_text="Relations that a walk of the graph follows."
    )
    similarity_threshold = Fraction(required=False)
    budget_allocation = SectionMapField(
        child=BoundedNumberField(MAX_PERCENT),
        required=False,
        help_text="Percents of the budget by section, or by source for all its sections.",
    )
    caps = SectionMapField(
        child=serializers.IntegerField(min_value=0, max_value=MAX_CAP, allow_null=True),
        required=False,
        help_text="Most tokens by section; null: what remains.",
    )
    top_k = SectionMapField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_TOP_K, allow_null=True),
        required=False,
        help_text="Items that have a chance, by section; null: all.",
    )
    omit = serializers.ListField(
        child=ExactText(max_length=60), max_length=MAX_SECTIONS, required=False, help_text="Sections to leave out."
    )
    over_budget = OverBudgetStepsField(
        child=serializers.ChoiceField(choices=STEPS),
        required=False,
        help_text=(
            "The steps that are applied to items that do not fit, in this order: items with the "
            "lowest scores are excluded (drop), long memories and older turns are shortened "
            "(compact), long results and items with low scores are summarised (summarise). []: none."
        ),
    )
    fill = Flag(
        required=False,
        help_text=(
            "If less than 90 % of the budget is used, items that were excluded for lack of budget "
            "are included after all, whole or shortened."
        ),
    )
    cut_at = choice_field(
        get_args(CutAt),
        required=False,
        help_text=("Where a truncated text ends; the next finer boundary if less than half of it would be kept."),
    )
    lod = choice_field(
        LEVEL_PREFERENCES,
        required=False,
        help_text=(
            "The level of detail of blocks, in place of the steps over budget: macro, micro, atomic, or adaptive, "
            "which is as detailed as there is room for. With a profile that has such steps, send over_budget: [] too."
        ),
    )


class BudgetsSerializer(StrictSerializer):
    time_ms = serializers.IntegerField(
        min_value=MIN_TIME_MS,
        max_value=MAX_TIME_MS,
        required=False,
        allow_null=True,
        default=None,
        help_text="The deadline in milliseconds; sources that are late are excluded, with a warning.",
    )
    quality_min = serializers.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        allow_null=True,
        default=None,
        help_text="Least mean relevance of what was searched for; below it, QUALITY_BELOW_MINIMUM.",
    )
