import secrets
from uuid import UUID, uuid4

import pytest

from contracts.random_secrets import new_secret
from gateway.accounts import key_format


def test_a_generated_key_can_be_parsed():
    key_id, secret = uuid4(), new_secret()
    text = key_format.render(key_id, secret)
    assert text.startswith(f"atr_{key_id.hex}_")
    assert len(secret) >= 43
    assert key_format.parse(text) == key_format.ApiKeyText(key_id, secret)


def test_only_the_correct_secret_matches():
    key = key_format.ApiKeyText(uuid4(), new_secret())
    assert key.matches(key.secret_sha256)
    assert not key_format.ApiKeyText(key.id, new_secret()).matches(key.secret_sha256)


def test_the_id_of_an_operator_key_reveals_nothing_about_its_hash():
    text = "9f2c" * 16
    key = key_format.parse(text)
    assert key is not None
    assert key == key_format.parse(text)
    assert key.secret == text
    assert key.id.bytes not in key.secret_sha256


@pytest.mark.parametrize("text", ["", "short", "x" * 201, "a" * 31, "ä" * 40, "a b" * 20, "abc\n" * 10, "\x00" * 40])
def test_malformed_keys_are_refused(text):
    assert key_format.parse(text) is None


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("9d0c1f0a3c8be2475b6fd1e0a4c3978215f7be60d2a98c34", True),  # make env
        ("9d0c1f0a3c8be2475b6fd1e0a4c3978215f7be60d2a98c3", False),  # one digit less
        ("0123456789abcdef0123456789abcdef", False),  # openssl rand -hex 16
        ("0123456789abcdef" * 4, False),  # repeats itself
        ("3f9a1c" * 11, False),
        ("hC1xkV9nUuXW0vBq7o3rZlNfJpYdGsTEiMaQ5KwRe2c=", True),  # openssl rand -base64 32
        ("hC1xkV9nUuXW0vBq7o3rZlNfJpYdGsTEiMaQ5KwRe2 =", False),
        ("correct-horse-battery-staple-correct-horse-battery", False),
        (key_format.render(UUID(int=2**127 + 77), "hC1xkV9nUuXW0vBq7o3rZlNfJpYdGsTEiMaQ5KwRe2c"), False),  # id of zeros
    ],
)
def test_operator_keys_must_be_strong_enough(text, valid):
    assert key_format.valid_operator_key(text) is valid


def test_every_generated_key_is_accepted_as_an_operator_key():
    for _ in range(200):
        assert key_format.valid_operator_key(secrets.token_hex(24))
        assert key_format.valid_operator_key(secrets.token_hex(32))
        assert key_format.valid_operator_key(key_format.render(uuid4(), new_secret()))
