"""Token counts: how long a stored text is, so that no process has to count what another one did."""

from django.db import models


class TokenCount(models.Model):
    """How many tokens a stored text has by a tokenizer, without white space at its end.

    Where contexts show it edited, with shifted headings, say, `tokenizer` names that as well: see `assembly.counted`.
    Append-only, for a budget is kept by it: whoever has the app's role must not be able to make a text shorter. It goes
    along with its text, in the database.
    """

    append_only = True

    text_sha256 = models.BinaryField(max_length=32)
    tokenizer = models.CharField(max_length=60)
    tokens = models.PositiveIntegerField()

    class Meta:
        db_table = "token_counts"
        constraints = [models.UniqueConstraint(fields=["text_sha256", "tokenizer"], name="token_count_once")]
