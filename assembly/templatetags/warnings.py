"""Badges for what the reader of a context must know."""

from django import template

from assembly.engine.reasons import warning_label

register = template.Library()
register.filter("warning_label", warning_label)
