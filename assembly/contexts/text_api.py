"""These REST endpoints count the tokens of a text, and shorten it."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.contexts.serializers import MAX_TEXT_CHARACTERS
from assembly.engine.tokenizers import DEFAULT_TOKENIZER
from assembly.pipeline.prepare import find_tokenizer
from assembly.pipeline.request import MAX_TOKENS
from assembly.pipeline.summaries.extractive import Method, compress
from config.http.idempotency import idempotent
from config.http.serializers import ExactText, StrictSerializer
from teams.api.view import ApiView


class TokensRequestSerializer(StrictSerializer):
    content = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True)
    tokenizer = ExactText(max_length=60, required=False, default=DEFAULT_TOKENIZER)


class TokensSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField()
    tokenizer = serializers.CharField()


class CompressRequestSerializer(TokensRequestSerializer):
    max_tokens = serializers.IntegerField(min_value=0, max_value=MAX_TOKENS)


class CompressSerializer(TokensSerializer):
    content = serializers.CharField(allow_blank=True)
    method = serializers.ChoiceField(
        choices=list(get_args(Method)), help_text="summary: the most relevant sentences; cut: the beginning."
    )


class TokenCount(ApiView):
    @extend_schema(
        operation_id="tokens_count", summary="Count tokens", request=TokensRequestSerializer, responses=TokensSerializer
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Count the tokens of a text."""
        self.query()
        asked = self.validated(TokensRequestSerializer)
        return Response({"tokens": find_tokenizer(asked["tokenizer"]).count(asked["content"]), **_name(asked)})


class TextCompression(ApiView):
    @extend_schema(
        operation_id="compress",
        summary="Shorten text",
        request=CompressRequestSerializer,
        responses=CompressSerializer,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Shorten a text to a number of tokens: to its most important sentences, else to its beginning."""
        self.query()
        asked = self.validated(CompressRequestSerializer)
        made = compress(asked["content"], asked["max_tokens"], find_tokenizer(asked["tokenizer"]))
        return Response({"content": made.text, "tokens": made.tokens, "method": made.method, **_name(asked)})


def _name(asked: dict[str, Any]) -> dict[str, Any]:
    return {"tokenizer": asked["tokenizer"]}
