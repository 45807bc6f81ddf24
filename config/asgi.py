"""The ASGI application that uvicorn serves."""

import os

import django
from django.conf import settings

from config.http.tracing import start_tracing
from config.serving.body_limit import BodyLimit
from config.serving.front import Front, OpenGate
from config.serving.heavy_lane import HeavyLane
from config.serving.heavy_process import SOCKET
from config.serving.threads import ThreadedHandler


def get_application() -> BodyLimit:
    """A new application with the settings as they are now."""
    django.setup(set_prefix=False)
    start_tracing()
    socket = os.environ.get(SOCKET)
    front = Front(ThreadedHandler(settings.WEB_THREADS), HeavyLane(socket) if socket else None, OpenGate())
    return BodyLimit(front)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_application()
