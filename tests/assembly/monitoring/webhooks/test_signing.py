"""Signatures as the specification of Standard Webhooks makes them."""

import base64

import pytest

from assembly.monitoring.webhooks.http_post import SECRET_BYTES, secret_new, signature, signed_headers

# The example of the specification's own libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE = {"message_id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "timestamp": 1614265330, "body": '{"test": 2432232314}'}
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_known_vector() -> None:
    assert signature(SECRET, **MESSAGE) == SIGNED  # type: ignore[arg-type]
    bare = SECRET.removeprefix("whsec_")
    assert signature(bare, **MESSAGE) == SIGNED, "the prefix is no part of the key"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change", [{"message_id": "msg_2"}, {"timestamp": 1614265331}, {"body": '{"test": 2432232315}'}]
)
def test_whatever_is_altered_shows(change: dict[str, object]) -> None:
    assert signature(SECRET, **{**MESSAGE, **change}) != SIGNED  # type: ignore[arg-type]


def test_two_secrets_sign_both_divided_by_a_space() -> None:
    other = secret_new()
    headers = signed_headers([other, SECRET], **MESSAGE)  # type: ignore[arg-type]
    assert headers["webhook-id"] == MESSAGE["message_id"]
    assert headers["webhook-timestamp"] == "1614265330"
    assert headers["webhook-signature"] == f"{signature(other, **MESSAGE)} {SIGNED}"  # type: ignore[arg-type]


def test_secrets_are_long_and_none_is_like_another() -> None:
    secrets = {secret_new() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) for secret in secrets} == {SECRET_BYTES}
