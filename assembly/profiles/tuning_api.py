"""REST endpoint of the tuning of a profile: everyone may read it; organisation admins switch and reset it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.engine.profile import Profile
from assembly.engine.types import field_values
from assembly.models import ProfileTuning, TuningChange
from assembly.profiles.catalogue import find_profile_entry
from assembly.profiles.tuning_versions import tuning_reset, tuning_state, tuning_switch, tuning_versions
from config.http.errors import Conflict
from config.http.serializers import Flag, StrictSerializer
from teams.access import require_admin
from teams.api.view import ApiView

SHOWN_VERSIONS = 100


class TuningSwitchSerializer(StrictSerializer):
    is_on = Flag(help_text="Whether feedback tunes the profile. Switched off, the values are kept, without effect.")


class TuningVersionSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    change = serializers.ChoiceField(choices=TuningChange.values)
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    mean = serializers.FloatField(allow_null=True, help_text="The mean of the window that led to the change.")
    evidence = serializers.ListField(child=serializers.UUIDField(), help_text="The assemblies of the window.")
    changed_by = serializers.CharField()


class TuningSerializer(serializers.Serializer[Any]):
    is_on = serializers.BooleanField()
    conflict_sensitivity = serializers.FloatField(help_text="Factor of the severity of conflicts, 1 to 2.")
    entity_share = serializers.FloatField(help_text="Factor of the room for entities and relations, 1 to 2.")
    coherence_weight = serializers.FloatField(help_text="What is added to the share of coherence among the weights.")
    versions = TuningVersionSerializer(many=True, help_text="The newest 100, the newest first.")


def tuning_document(profile: Profile) -> dict[str, Any]:
    """Return the tuning of a profile with its versions as JSON values; two queries."""
    state = tuning_state(profile)
    return {
        "is_on": state.is_on,
        **field_values(state.tuning),
        "versions": [_version_document(version) for version in tuning_versions(profile.name, SHOWN_VERSIONS)],
    }


def _version_document(version: ProfileTuning) -> dict[str, Any]:
    names = ("version", "change", "before", "after", "mean", "evidence")
    facts = {name: getattr(version, name) for name in names}
    return {**facts, "created_at": version.created, "changed_by": version.changer_name or "Dossier"}


class ProfileTuningDetail(ApiView):
    @extend_schema(operation_id="profiles_tuning_read", summary="Get tuning of profile", responses=TuningSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Return how feedback moved the numbers of the profile, and why."""
        self.query()
        return self._answer(name)

    @extend_schema(
        operation_id="profiles_tuning_switch",
        summary="Switch tuning of profile",
        request=TuningSwitchSerializer,
        responses=TuningSerializer,
    )
    def put(self, request: Request, name: str) -> Response:
        """Switch the tuning on or off. For organisation admins and admin keys."""
        self.query()
        find_profile_entry(name)
        require_admin(self.principal)
        tuning_switch(name=name, **self.validated(TuningSwitchSerializer), principal=self.principal)
        return self._answer(name)

    @extend_schema(operation_id="profiles_tuning_reset", summary="Reset tuning of profile", responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Reset the tuning, so that the profile is as its text says. For organisation admins and admin keys."""
        self.query()
        find_profile_entry(name)
        require_admin(self.principal)
        tuning_reset(name=name, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _answer(self, name: str) -> Response:
        entry = find_profile_entry(name)
        if entry.described is None:
            raise Conflict(f"The profile {name} cannot be used: its text is not valid.")
        return Response(TuningSerializer(tuning_document(entry.described.profile)).data)
