"""Monitoring counts new contexts, opens alerts, and sends webhooks."""
