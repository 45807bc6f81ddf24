"""Tables for sign-in: the limits on attempts, and browser sessions."""

from django.conf import settings
from django.db import models
from uuid_utils.compat import uuid7

MAX_BROWSER_CHARACTERS = 300


class SignInLimit(models.Model):
    """A token bucket from which attempts to sign in are taken; `full_at` is when the bucket is full again.

    `bucket` is a digest, under SECRET_KEY, of what the limit counts: addresses, and usernames as they were typed,
    because people sometimes type a password in the wrong field. A bucket without a row is full.
    """

    bucket = models.CharField(max_length=64, primary_key=True)
    full_at = models.DateTimeField()

    class Meta:
        db_table = "sign_in_limits"


class BrowserSession(models.Model):
    """A browser session, with the person who is signed in, if any.

    `digest` is the SHA-256 of the key in the browser's cookie, so that a reader of the table cannot use a session.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    digest = models.CharField(max_length=64, unique=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="browser_sessions", db_column="user_id"
    )
    session_data = models.TextField()
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    address = models.CharField(max_length=64, blank=True)
    browser = models.CharField(max_length=MAX_BROWSER_CHARACTERS, blank=True)

    class Meta:
        db_table = "browser_sessions"
