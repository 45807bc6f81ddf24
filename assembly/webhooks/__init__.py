"""Webhooks: messages to addresses of others, signed by Standard Webhooks, sent by jobs until they are taken."""
