"""`web`: one of the processes that `serve` keeps. It answers the requests of the connections that come to it."""

import socket
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.urls import resolve

from agents.quotas.uses import FlushThread
from assembly.engine.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from config.server.connections import ConnectionLimits
from config.server.memory_settings import SCHEDULED_THRESHOLDS, configure_garbage_collector
from config.server.web_server import WebServer
from memories.embeddings.wordllama import warm_up


class Command(BaseCommand):
    """Is warm before it says that it is ready."""

    help = __doc__
    requires_system_checks: list[str] = []  # `serve` did them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--line", type=int, required=True, help="the descriptor by which connections come")

    def handle(self, *, line: int, **_: Any) -> None:
        load_everything()
        bounds = ConnectionLimits.within_descriptors(settings.MAX_CONNECTIONS, settings.MAX_CONNECTIONS_PER_CLIENT)
        with FlushThread():
            WebServer("config.asgi:application", socket.socket(fileno=line), bounds).run()


def load_everything() -> None:
    """Load the code, models and tokenizer that requests need, so that no request has to wait for them."""
    warm_up()
    resolve("/")  # loads all pages and the API
    get_tokenizer(DEFAULT_TOKENIZER).count("warm")
    configure_garbage_collector(SCHEDULED_THRESHOLDS)
