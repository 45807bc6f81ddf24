"""The REST endpoint of a what-if."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.comparison.serializers import CONTENT
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.serializers import (
    WhatIfRequestSerializer,
    WhatIfSerializer,
    what_if_document,
)
from assembly.simulation.what_if.services import run_what_if
from config.http.idempotency import idempotent
from teams.api.view import ApiView


class AssemblyWhatIf(ApiView):
    @extend_schema(operation_id="assemblies_what_if", request=WhatIfRequestSerializer, responses=WhatIfSerializer)
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """The context as it would be with something changed, beside the recorded one. Nothing is stored or published.

        Where the record holds all that is needed, every difference comes of the change. Another topic, and a profile
        with other sources, need a new reading: `basis` then says `today`.
        """
        self.query()
        assembly = assembly_for(self.principal, id_)
        asked = self.validated(WhatIfRequestSerializer)
        found = run_what_if(assembly=assembly, overrides=Overrides.from_dict(asked))
        return Response(WhatIfSerializer(what_if_document(found, with_content=CONTENT in asked["include"])).data)
