"""These forms check passwords and codes; each check counts as an attempt to sign in."""

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.forms import ChangePasswordForm as AllauthChangePasswordForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as base

from teams.models import User
from teams.sign_in.attempts import Attempt, SignInStep, TooManyAttempts, attempt_begin, attempt_give_back
from teams.sign_in.second_factor import code_accept


class _OnceOnly(base.BaseAuthenticateForm):  # type: ignore[misc]
    """A form that accepts a code of an authenticator app, or a recovery code, only once."""

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        attempt = _attempt(SignInStep.CODE, self.user)
        accepted = code_accept(person=self.user, code=code)
        if accepted is None:
            raise get_adapter().validation_error("incorrect_code")
        attempt_give_back(attempt)
        self.authenticator = accepted
        return code


class AuthenticateForm(_OnceOnly, base.AuthenticateForm):  # type: ignore[misc]
    """The form of the second factor at sign-in."""


class ReauthenticateForm(_OnceOnly, base.ReauthenticateForm):  # type: ignore[misc]
    """The form that confirms a person's identity before they change how they sign in."""


class ChangePasswordForm(AllauthChangePasswordForm):  # type: ignore[misc]  # allauth has no types
    """The form of a new password, which requires the current one: a stolen session cannot be used to guess it."""

    def clean_oldpassword(self) -> str:
        attempt = _attempt(SignInStep.PASSWORD, self.user)
        password: str = super().clean_oldpassword()
        attempt_give_back(attempt)
        return password


def _attempt(step: SignInStep, person: User) -> Attempt:
    """Return an attempt that is within the limits. Raises ValidationError."""
    try:
        return attempt_begin(request=context.request, step=step, username=person.username)
    except TooManyAttempts:
        raise get_account_adapter().validation_error("too_many_login_attempts") from None
