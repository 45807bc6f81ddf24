"""Webhooks send events to endpoints of the organisation."""
