"""This Django app has the parts that all APIs and pages share."""

from django.apps import AppConfig


class HttpConfig(AppConfig):
    name = "config.http"
    label = "http"
