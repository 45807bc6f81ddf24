"""REST: sessions."""

from functools import partial

from rest_framework import serializers

from config.http.api import StrictSerializer
from config.http.fields import Line, Moment
from memories.api.fields import external_id_field
from memories.api.noun import KeptSerializer, Noun
from memories.models import Session
from memories.services import kept_create

MAX_TITLE_CHARACTERS = 200


class SessionCreateSerializer(StrictSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS, allow_blank=True, required=False)
    started_at = Moment(required=False, help_text="Default: now. Taken as UTC without an offset.")
    ended_at = Moment(allow_null=True, required=False, help_text="Taken as UTC without an offset.")
    external_id = external_id_field()


class SessionUpdateSerializer(StrictSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS, allow_blank=True, required=False)
    ended_at = Moment(allow_null=True, required=False, help_text="null: it goes on.")


class SessionSerializer(KeptSerializer):
    title = serializers.CharField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


SESSIONS = Noun(
    name="sessions",
    word="session",
    model=Session,
    document=SessionSerializer,
    listed=SessionSerializer,
    create=SessionCreateSerializer,
    update=SessionUpdateSerializer,
    creates=partial(kept_create, model=Session),
)
