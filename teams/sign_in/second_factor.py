"""Second factors are stored here: their secrets are encrypted, and each code works only once, even concurrently.

allauth remembers used codes in a cache for 30 seconds. Here the time step of the last accepted code is stored with the
authenticator, and only later ones are accepted (RFC 6238, section 5.2), under a lock of its row.
"""

from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from allauth.mfa.utils import is_mfa_enabled
from django.db import transaction

from config.http.encryption import decrypt, encrypt
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import User
from teams.principal import SYSTEM, Principal
from teams.sign_in.browser_sessions import sessions_end

LAST_STEP = "last_step"
"""The key in an authenticator's data for the time step of the last TOTP code that was accepted."""


class EncryptingMFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """An adapter that stores the secrets of authenticator apps and the seeds of recovery codes encrypted."""

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)


@transaction.atomic
def code_accept(*, person: User, code: str) -> Any:
    """Accept a code and mark it as used.

    Return the authenticator of the code; None if the code is wrong or was used before.
    """
    own = Authenticator.objects.select_for_update().filter(user=person).exclude(type=Authenticator.Type.WEBAUTHN)
    for authenticator in own.order_by("pk"):
        if authenticator.type == Authenticator.Type.TOTP:
            accepted = _totp_accept(authenticator, code)
        else:
            accepted = authenticator.wrap().validate_code(code)
        if accepted:
            authenticator.user = person
            return authenticator
    return None


def _totp_accept(authenticator: Any, code: str) -> bool:
    secret = decrypt(authenticator.data["secret"])
    for step in yield_hotp_counters_from_time():
        is_new = step > authenticator.data.get(LAST_STEP, -1)
        if is_new and compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step))):
            authenticator.data[LAST_STEP] = step
            authenticator.save(update_fields=["data"])
            return True
    return False


@transaction.atomic
def activation_code_use_up(*, authenticator: Any) -> None:
    """Mark the code with which an authenticator app was set up as used, with all earlier ones, so that they cannot sign
    in.
    """
    current = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
    current.data[LAST_STEP] = max(yield_hotp_counters_from_time())
    current.save(update_fields=["data"])


def has_second_factor(person: User) -> bool:
    """Return whether the person has set up an authenticator app."""
    return bool(is_mfa_enabled(person))


@transaction.atomic
def second_factor_remove(*, person: User, principal: Principal = SYSTEM) -> bool:
    """Remove the authenticator app and the recovery codes of a person who lost them, and end their sessions.

    Return whether there were any.
    """
    removed, _ = Authenticator.objects.filter(user=person).delete()
    sessions_end(person=person)
    if removed:
        activity_record(principal, ActivityAction.PERSON_FACTOR, str(person))
    return bool(removed)
