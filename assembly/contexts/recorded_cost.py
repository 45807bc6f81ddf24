"""The cost of a context, as the API and the pages of a context tell it."""

from typing import Any

from rest_framework import serializers

from assembly.models import Assembly


class CostSerializer(serializers.Serializer[Any]):
    statements = serializers.IntegerField(help_text="Statements that read the sources; 0 if all came from a cache.")
    rows = serializers.IntegerField(help_text="Rows that they returned.")
    texts_sent = serializers.IntegerField(help_text="Texts that were sent to the model server for summaries.")
    tokens_sent = serializers.IntegerField(help_text="Tokens of these texts, as the tokenizer of the context counts.")
    tokens_received = serializers.IntegerField(help_text="Tokens of the summaries that came back.")


def cost_document(assembly: Assembly) -> dict[str, Any] | None:
    """Return the recorded cost as JSON values; None where no source was read, and in older records.

    A repeated answer has that of the first.
    """
    return assembly.request.get("cost")
