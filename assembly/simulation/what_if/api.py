"""REST endpoint of a what-if, with its overrides and both contexts as JSON."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.comparison.documents import comparison_document
from assembly.comparison.serializers import CONTENT, KEYS, SideBySideSerializer
from assembly.pipeline.request import MAX_TOKENS, MAX_TOPIC_CHARACTERS
from assembly.profiles.serializers import YAML
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.services import WHAT_IF_BASES, WhatIfResult, run_what_if
from config.http.idempotency import idempotent
from config.http.serializers import ExactText, StrictSerializer
from teams.api.view import ApiView
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_CAPS = 50
MAX_RULES = 100
MAX_VERSION = 2**31 - 1


class WhatIfSerializer(SideBySideSerializer):
    assembly_id = serializers.UUIDField()
    basis = serializers.ChoiceField(
        choices=list(WHAT_IF_BASES), help_text="record: the recorded candidates; today: the sources were read again."
    )
    session_deleted = serializers.BooleanField(help_text="The session of the request was deleted.")


class OverridesSerializer(StrictSerializer):
    max_tokens = serializers.IntegerField(min_value=0, max_value=MAX_TOKENS, required=False, help_text="The budget.")
    tokenizer = ExactText(max_length=60, required=False)
    profile = ExactText(max_length=60, required=False, help_text="As it is today.")
    topic = ExactText(
        max_length=MAX_TOPIC_CHARACTERS, required=False, allow_blank=True, help_text="The sources are then read again."
    )
    caps = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=MAX_TOKENS, allow_null=True),
        required=False,
        help_text="Caps in tokens by the keys of sections; null: no cap.",
    )
    without_rules = serializers.ListField(
        child=ExactText(max_length=60), max_length=MAX_RULES, required=False, help_text="Names of rules that fired."
    )
    with_rule = ExactText(
        max_length=MAX_FILE_CHARACTERS, required=False, help_text=f"{YAML} An additional rule, as if the agent had it."
    )
    files = serializers.DictField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_VERSION),
        required=False,
        help_text=f"Numbers of versions by the key of the file: {', '.join(KEYS)}.",
    )

    def validate_caps(self, caps: dict[str, int | None]) -> dict[str, int | None]:
        if len(caps) > MAX_CAPS:
            raise serializers.ValidationError(f"Send at most {MAX_CAPS} caps.")
        return caps

    def validate_files(self, files: dict[str, int]) -> dict[str, int]:
        unknown = [key for key in files if key not in KEYS]
        if unknown:
            raise serializers.ValidationError(f"There is no file “{unknown[0][:60]}”. Use one of {', '.join(KEYS)}.")
        return files


class WhatIfRequestSerializer(OverridesSerializer):
    include = serializers.ListField(
        child=serializers.ChoiceField(choices=[CONTENT]),
        max_length=1,
        required=False,
        default=list,
        help_text="content: the complete texts of both contexts.",
    )


def what_if_document(found: WhatIfResult, *, with_content: bool) -> dict[str, Any]:
    """Return a recorded context and the one with overrides as JSON."""
    facts = {"assembly_id": found.assembly.id, "basis": found.basis, "session_deleted": found.session_gone}
    return {**facts, **comparison_document(found.beside, with_content=with_content)}


class AssemblyWhatIf(ApiView):
    @extend_schema(
        operation_id="assemblies_what_if",
        summary="Simulate assembly with other parameters",
        request=WhatIfRequestSerializer,
        responses=WhatIfSerializer,
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Return the context with some parameters changed, compared with the recorded one. Nothing is stored.

        If the record has all the data, every difference is caused by the change. Another topic, or a profile with other
        sources, is read from the current data: `basis` is then `today`.
        """
        self.query()
        assembly = assembly_for(self.principal, id_)
        asked = self.validated(WhatIfRequestSerializer)
        found = run_what_if(assembly=assembly, overrides=Overrides.from_dict(asked))
        return Response(WhatIfSerializer(what_if_document(found, with_content=CONTENT in asked["include"])).data)
