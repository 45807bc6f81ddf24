"""Summaries, levels of detail and token counts of texts are cached in the database, and changes of an owner's rows are
counted.
"""

from django.db import models


class StoredSummary(models.Model):
    """A summary that a model made of a stored text. Both texts are referred to by their SHA-256 in `StoredText`.

    Append-only: summaries are put into later contexts, so the app's database role must not be able to change them. When
    one of the two texts is deleted, the database deletes the summary along with it.
    """

    append_only = True

    text_sha256 = models.BinaryField(max_length=32)
    model = models.CharField(max_length=120)
    summary_sha256 = models.BinaryField(max_length=32, db_index=True)

    class Meta:
        db_table = "summaries"
        constraints = [models.UniqueConstraint(fields=["text_sha256", "model"], name="summary_once_per_model")]


class TextLevel(models.Model):
    """A text level is the macro or micro form of a text of an item, made by a deriver (its name with its version).

    `item` is the id of the memory, document, file or log, and `text_sha256` that of the text which its source offers.
    Append-only: levels are put into later contexts, so the app's database role must not be able to change them. The
    database deletes the levels of a deleted item, and its function `prune_levels` those of texts that an item no longer
    has. The text is in the row itself, and not in `StoredText`, so that it goes with its item at once.
    """

    append_only = True

    item = models.UUIDField(db_index=True)
    text_sha256 = models.BinaryField(max_length=32)
    level = models.CharField(max_length=5)
    deriver = models.CharField(max_length=160)
    text = models.TextField()

    class Meta:
        db_table = "text_levels"
        constraints = [
            models.UniqueConstraint(fields=["text_sha256", "level", "deriver", "item"], name="text_level_once")
        ]


class UnlevelledItem(models.Model):
    """An unlevelled item was saved, and a worker is to derive the levels of its texts: see `level_derivation`."""

    item = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=40)

    class Meta:
        db_table = "unlevelled_items"


class TokenCount(models.Model):
    """The number of tokens of a stored text by a tokenizer, without the white space at its end.

    If contexts show the text in an edited form, for example with shifted headings, `tokenizer` names that form as well:
    see `assembly.pipeline.token_counts`. Append-only: budgets depend on the count, so the app's database role must not
    be able to change it. The database deletes a count along with its text.
    """

    append_only = True

    text_sha256 = models.BinaryField(max_length=32)
    tokenizer = models.CharField(max_length=60)
    tokens = models.PositiveIntegerField()

    class Meta:
        db_table = "token_counts"
        constraints = [models.UniqueConstraint(fields=["text_sha256", "tokenizer"], name="token_count_once")]


class ChangeCounter(models.Model):
    """One of several counters (shards) of an owner's changed rows; their sum grows with every committed change.

    An owner is an agent, a team, or `config.db.migration_helpers.ORGANISATION`. Each writer increments a shard that no
    other transaction has locked, so writers never wait for each other. The shards of a deleted owner are not deleted,
    so that its count never starts again at zero. Triggers of the database increment them.
    """

    pk = models.CompositePrimaryKey("owner", "shard")
    owner = models.UUIDField()
    shard = models.IntegerField()
    value = models.BigIntegerField()

    class Meta:
        db_table = "change_counters"
