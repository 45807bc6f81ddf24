"""What a context cost is recorded with it: what gathering read, and what the model server was sent.

Source: the "cost budget" of the seed "Memory Layer", which has no number. A report takes its place; a profile limits
what costs money by `summaries_max`.
"""

from collections.abc import Sequence

from prometheus_client import Counter

from assembly.pipeline.summaries.services import Summaries
from assembly.sources.time_budget import ReadCost

STATEMENTS = Counter("memory_source_statements_total", "Statements that read sources for contexts.")
ROWS = Counter("memory_source_rows_total", "Rows that such statements returned.")
SUMMARY_TOKENS = Counter(
    "memory_summary_tokens_total",
    "Tokens of texts for summaries: sent to the model server, or received from it.",
    ["direction"],
)


def count_cost(read: ReadCost, rounds: Sequence[Summaries]) -> dict[str, int]:
    """Return what the record stores about the cost of a new context, and count it in the metrics.

    `tokens_sent` and `tokens_received` are counted by the context's tokenizer; a server may count otherwise.
    """
    cost = {
        "statements": read.statements,
        "rows": read.rows,
        "texts_sent": sum(one.sent for one in rounds),
        "tokens_sent": sum(one.tokens_sent for one in rounds),
        "tokens_received": sum(one.tokens_received for one in rounds),
    }
    STATEMENTS.inc(read.statements)
    ROWS.inc(read.rows)
    SUMMARY_TOKENS.labels("sent").inc(cost["tokens_sent"])
    SUMMARY_TOKENS.labels("received").inc(cost["tokens_received"])
    return cost
