from uuid import UUID

import pytest

from orchestrator.configuration.sealing import SealBroken, Sealed, SecretPlace, SecretSeal, SettingsKeyInvalid

OLD, NEW = "ab" * 32, "cd" * 32
HERE = SecretPlace(UUID(int=1), "providers.mine.api_key")


def seal(text: str) -> SecretSeal:
    made = SecretSeal.parse(text)
    assert made is not None
    return made


def test_a_sealed_secret_opens_only_in_its_own_place() -> None:
    sealed = seal(OLD).seal("sk-planted", HERE)
    assert seal(OLD).open(sealed, HERE) == "sk-planted"
    for other in (SecretPlace(UUID(int=2), HERE.key), SecretPlace(HERE.workspace_id, "providers.other.api_key")):
        with pytest.raises(SealBroken):
            seal(OLD).open(sealed, other)
    assert b"sk-planted" not in sealed.content
    assert seal(OLD).seal("sk-planted", HERE) != sealed


def test_a_tampered_secret_does_not_open() -> None:
    sealed = seal(OLD).seal("sk-planted", HERE)
    for at in range(len(sealed.content)):
        changed = bytearray(sealed.content)
        changed[at] ^= 1
        with pytest.raises(SealBroken):
            seal(OLD).open(Sealed(sealed.key_id, bytes(changed)), HERE)


def test_additional_keys_open_the_secrets_they_sealed() -> None:
    sealed = seal(OLD).seal("sk-planted", HERE)
    both = seal(f"{NEW} {OLD}")
    assert both.open(sealed, HERE) == "sk-planted"
    assert both.seal("x", HERE).key_id == seal(NEW).key_id != sealed.key_id
    with pytest.raises(SealBroken, match=sealed.key_id):
        seal(NEW).open(sealed, HERE)


@pytest.mark.parametrize("text", ["ab", "zz" * 32, f"{OLD},{NEW}"])
def test_a_malformed_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(SettingsKeyInvalid) as refused:
        SecretSeal.parse(text)
    assert text not in str(refused.value)


def test_without_a_key_nothing_can_be_sealed() -> None:
    assert SecretSeal.parse(" ") is None
