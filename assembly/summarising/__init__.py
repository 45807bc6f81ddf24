"""Summaries: by the bundled extractive summariser or, configured, by a model on a server of the organisation's own."""

from assembly.summarising.stored import EXTRACTIVE, store_summaries
from assembly.summarising.summaries import Summaries, summarise

__all__ = ["EXTRACTIVE", "Summaries", "store_summaries", "summarise"]
