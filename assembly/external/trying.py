"""Asking one endpoint now, to see what comes back: by itself, for nobody, and kept nowhere."""

from functools import partial

from django.utils import timezone

from assembly.engine.signals import parse_signals
from assembly.external.asking import Told, asking_of, question_of
from assembly.external.asking_all import CLOSING_SECONDS, ask_all
from assembly.models import ExternalSource
from config.http.beside import Beside

MAX_QUERY_CHARACTERS = 2_000
GRACE_SECONDS = 5.0
"""To read a large answer that came at the last moment."""


def external_source_ask(*, source: ExternalSource, query: str) -> Told:
    """What the endpoint tells on the query, within its own time. It is asked also while it is switched off."""
    signals = parse_signals(query)
    question = question_of(
        query=query, agent=None, team=None, session=None, intent=signals.intent, keywords=signals.keywords
    )
    asking = asking_of(source, limit=source.limit, now=timezone.now(), question=question)
    seconds = source.timeout_ms / 1000 + CLOSING_SECONDS
    beside = Beside("external source", partial(ask_all, [asking], seconds=seconds))
    return beside.result(seconds=seconds + GRACE_SECONDS)[0]
