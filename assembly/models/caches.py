"""Summaries that a model made: each once for a text, whoever asks for it later.

Token counts: how long a stored text is, so that no process has to count what another one did.

How often what contexts are made of has changed, counted by the database's own triggers.
"""

from django.db import models


class StoredSummary(models.Model):
    """That a model said one stored text as another one. Both are named by the SHA-256 of `StoredText`.

    Append-only: what stands here goes into later contexts, so whoever has the app's role must not be able to put other
    words in its place. It keeps no text alive: whoever deletes one of its two texts deletes it along, in the database.
    """

    append_only = True

    text_sha256 = models.BinaryField(max_length=32)
    model = models.CharField(max_length=120)
    summary_sha256 = models.BinaryField(max_length=32, db_index=True)

    class Meta:
        db_table = "summaries"
        constraints = [models.UniqueConstraint(fields=["text_sha256", "model"], name="summary_once_per_model")]


class TokenCount(models.Model):
    """How many tokens a stored text has by a tokenizer, without white space at its end.

    Where contexts show it edited, with shifted headings, say, `tokenizer` names that as well: see
    `assembly.pipeline.token_counts`. Append-only, for a budget is kept by it: whoever has the app's role must not be
    able to make a text shorter. It goes along with its text, in the database.
    """

    append_only = True

    text_sha256 = models.BinaryField(max_length=32)
    tokenizer = models.CharField(max_length=60)
    tokens = models.PositiveIntegerField()

    class Meta:
        db_table = "token_counts"
        constraints = [models.UniqueConstraint(fields=["text_sha256", "tokenizer"], name="token_count_once")]


class ChangeCounter(models.Model):
    """One share of an owner's count; the sum of its shares grows with every committed change.

    An owner is an agent, a team, or `config.db.migration_helpers.ORGANISATION`. Each writer raises a share that
    nobody else holds, so writers never wait for each other. The shares of a deleted owner stay: its count must not
    start again.
    """

    pk = models.CompositePrimaryKey("owner", "shard")
    owner = models.UUIDField()
    shard = models.IntegerField()
    value = models.BigIntegerField()

    class Meta:
        db_table = "change_counters"
