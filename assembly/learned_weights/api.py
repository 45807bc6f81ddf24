"""REST endpoints that show the learned weights of a profile, learn and switch them. Everyone may read; admins may
write.
"""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.learned_weights.jobs import learning_job_create
from assembly.learned_weights.presentation import LearnedVersion, learned_versions
from assembly.learned_weights.services import MAX_VERSION, learned_weights_switch
from assembly.models import LearnedWeights
from assembly.profiles.catalogue import find_profile_entry
from assembly.profiles.serializers import ProfileWeightsSerializer
from config.http.idempotency import idempotent
from config.http.serializers import Flag, StrictSerializer
from memories.api.jobs import JobSerializer, job_document
from teams.access import require_admin
from teams.api.serializers import ActorSerializer, actor_document
from teams.api.view import ApiView

COUNTS = (
    "unreadable",
    "untried",
    "changed",
    "items_in",
    "items_out",
    "tokens_before",
    "tokens_after",
    "better",
    "worse",
)
RECALL = "Share of the used items, 0 to 1, that fit in a quarter of their contexts' tokens"


class DifferingContextSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    items_in = serializers.IntegerField(help_text="Items that would be added.")
    items_out = serializers.IntegerField(help_text="Items that would be removed.")
    tokens_before = serializers.IntegerField()
    tokens_after = serializers.IntegerField()


class ShadowReportSerializer(serializers.Serializer[Any]):
    created_at = serializers.DateTimeField()
    contexts = serializers.IntegerField(help_text="How many of the newest contexts were assembled again.")
    unreadable = serializers.IntegerField(help_text="How many were passed over: their record could not be read.")
    untried = serializers.IntegerField(help_text="For how many there was no time.")
    changed = serializers.IntegerField(help_text="How many would include other items.")
    items_in = serializers.IntegerField(help_text="Items that would be added, in all contexts.")
    items_out = serializers.IntegerField(help_text="Items that would be removed, in all contexts.")
    tokens_before = serializers.IntegerField()
    tokens_after = serializers.IntegerField()
    measured = serializers.IntegerField(
        help_text="At most 200, the newest with feedback that the weights were not trained on."
    )
    recall_before = serializers.FloatField(allow_null=True, help_text=f"{RECALL}; null: none was measured.")
    recall_after = serializers.FloatField(allow_null=True)
    better = serializers.IntegerField(help_text="Measured contexts with a higher recall.")
    worse = serializers.IntegerField(help_text="Measured contexts with a lower recall.")
    shows_gain = serializers.BooleanField(help_text="Whether the weights may be switched on.")
    differing = DifferingContextSerializer(many=True, help_text="At most 50 that would differ and that you may see.")


class LearnedVersionSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    state = serializers.ChoiceField(
        choices=LearnedWeights.State.values, help_text="proposed: never switched; on: in force."
    )
    created_at = serializers.DateTimeField()
    profile_version = serializers.IntegerField(help_text="The version of the profile that they were learned for.")
    is_current = serializers.BooleanField(help_text="false: the profile has been changed or created again since.")
    own_weights = ProfileWeightsSerializer(help_text="Those in the text of the profile.")
    weights = ProfileWeightsSerializer(help_text="The learned ones, with the same sum.")
    contexts = serializers.IntegerField(help_text="Contexts with feedback that they were fitted to.")
    held_out = serializers.IntegerField(help_text="Others, on which the recalls were measured.")
    recall_before = serializers.FloatField(allow_null=True, help_text=RECALL)
    recall_after = serializers.FloatField(allow_null=True)
    report = ShadowReportSerializer(allow_null=True, help_text="The newest shadow run; null: there was none.")
    switched_at = serializers.DateTimeField(allow_null=True)
    switched_by = ActorSerializer(allow_null=True)


class LearnedWeightsSerializer(serializers.Serializer[Any]):
    profile = serializers.CharField()
    in_force = serializers.IntegerField(allow_null=True, help_text="The version that is on; null: none is.")
    versions = LearnedVersionSerializer(many=True, help_text="The newest 20, the newest first.")


class LearnedWeightsSwitchSerializer(StrictSerializer):
    version = serializers.IntegerField(min_value=1, max_value=MAX_VERSION)
    is_on = Flag(help_text="true: switch on, which needs a shadow report with a gain.")


class ProfileLearnedWeights(ApiView):
    @extend_schema(
        operation_id="profiles_learned_weights",
        summary="Learned weights of a profile",
        responses=LearnedWeightsSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        """Return the versions of the weights that were learned from feedback, with what each would have changed."""
        self.query()
        return Response(_document(name, learned_versions(find_profile_entry(name), self.principal)))

    @extend_schema(
        operation_id="profiles_learned_weights_learn",
        summary="Learn weights of a profile",
        request=None,
        responses={202: JobSerializer},
    )
    @idempotent
    def post(self, request: Request, name: str) -> Response:
        """Begin to learn weights and to try them on recorded contexts, in the background. For organisation admins.

        Nothing is switched on. 409 while they are being learned, if too few contexts have feedback, and for a profile
        without blocks.
        """
        self.query()
        find_profile_entry(name)
        require_admin(self.principal)
        return Response(
            job_document(learning_job_create(profile=name, principal=self.principal)), status.HTTP_202_ACCEPTED
        )


class ProfileLearnedWeightsSwitch(ApiView):
    @extend_schema(
        operation_id="profiles_learned_weights_switch",
        summary="Switch learned weights",
        request=LearnedWeightsSwitchSerializer,
        responses=LearnedWeightsSerializer,
    )
    @idempotent
    def post(self, request: Request, name: str) -> Response:
        """Switch a version of the learned weights on or off. For organisation admins and admin keys.

        It is only switched on if its newest shadow report shows a gain of 0.02 in the recall of used items.
        """
        self.query()
        entry = find_profile_entry(name)
        require_admin(self.principal)
        learned_weights_switch(profile=name, **self.validated(LearnedWeightsSwitchSerializer), principal=self.principal)
        return Response(_document(name, learned_versions(entry, self.principal)))


def _document(name: str, versions: list[LearnedVersion]) -> dict[str, Any]:
    in_force = next((one.learned.version for one in versions if one.is_on), None)
    return {"profile": name, "in_force": in_force, "versions": [_version_document(one) for one in versions]}


def _version_document(version: LearnedVersion) -> dict[str, Any]:
    learned, switched = version.learned, version.switched
    names = ("version", "profile_version", "own_weights", "weights", "contexts", "held_out")
    return {
        **{name: getattr(learned, name) for name in (*names, "recall_before", "recall_after")},
        "state": version.state,
        "created_at": learned.created,
        "is_current": version.is_current,
        "report": _report_document(version),
        "switched_at": switched.created if switched else None,
        "switched_by": actor_document(switched.by_ref, switched.by_name) if switched else None,
    }


def _report_document(version: LearnedVersion) -> dict[str, Any] | None:
    report = version.report
    if report is None:
        return None
    counts = ("items_in", "items_out", "tokens_before", "tokens_after")
    return {
        **{name: getattr(report, name) for name in ("contexts", "measured", "recall_before", "recall_after")},
        **{name: report.detail[name] for name in COUNTS},
        "created_at": report.created,
        "shows_gain": version.has_gain,
        "differing": [{"id": one["assembly"], **{name: one[name] for name in counts}} for one in version.differing],
    }
