"""What every API and page shares and no app owns."""

from django.apps import AppConfig


class HttpConfig(AppConfig):
    name = "config.http"
    label = "http"
