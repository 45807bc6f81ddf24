"""The ASGI application that uvicorn serves."""

import os

import django
from django.conf import settings

from config.http.tracing import start_tracing
from config.serving.body_limit import BodyLimit
from config.serving.front import Front
from config.serving.heavy_lane import HeavyLane
from config.serving.heavy_process import SOCKET
from config.serving.request_counts import RequestCounts
from config.serving.threads import ThreadedHandler


def get_application() -> BodyLimit:
    """A new application with the settings as they are now."""
    django.setup(set_prefix=False)
    from agents.quotas.gate import QuotaGate  # noqa: PLC0415 - models need Django to be set up

    start_tracing()
    socket = os.environ.get(SOCKET)
    heavy_lane, gate = HeavyLane(socket) if socket else None, QuotaGate(RequestCounts.of_environment())
    return BodyLimit(Front(ThreadedHandler(settings.WEB_THREADS), heavy_lane, gate))


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_application()
