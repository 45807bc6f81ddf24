"""This is the ASGI application that uvicorn serves."""

import os

import django
from django.conf import settings

from config.observability.tracing import start_tracing
from config.server.admission import FrontApplication
from config.server.body_limit import BodyLimit
from config.server.heavy_lane import HeavyLane
from config.server.request_counts import RequestCounts
from config.server.supervised_process import SOCKET_VARIABLE
from config.server.threaded_handler import ThreadedHandler


def get_application() -> BodyLimit:
    """Return a new application with the current settings."""
    django.setup(set_prefix=False)
    from agents.quotas.gate import QuotaGate  # noqa: PLC0415 - models need Django to be set up

    start_tracing()
    socket = os.environ.get(SOCKET_VARIABLE)
    heavy_lane, gate = HeavyLane(socket) if socket else None, QuotaGate(RequestCounts.of_environment())
    return BodyLimit(FrontApplication(ThreadedHandler(settings.WEB_THREADS), heavy_lane, gate))


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_application()
