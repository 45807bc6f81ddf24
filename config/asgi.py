"""The ASGI application that uvicorn serves."""

import os

import django
from django.conf import settings

from config.http.tracing import start_tracing
from config.serving.threads import ThreadedHandler


def get_application() -> ThreadedHandler:
    """A new application with the settings as they are now."""
    django.setup(set_prefix=False)
    start_tracing()
    return ThreadedHandler(settings.WEB_THREADS)


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_application()
