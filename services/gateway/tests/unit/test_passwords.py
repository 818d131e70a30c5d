"""Which passwords are taken, and how they are kept."""

import asyncio

import pytest
from argon2 import PasswordHasher

from gateway.errors import PasswordTooCommon, SignInBusy
from gateway.signin.passwords import AT_ONCE, COMMON, MOST_WAITING, Passwords, must_be_uncommon

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.mark.parametrize(
    "password", ["password1234", "PASSWORD1234", "aaaaaaaaaaaa", "ababababababab", "Ada Lovelace", "ADA@example.org"]
)
def test_common_passwords_are_refused(password):
    with pytest.raises(PasswordTooCommon):
        must_be_uncommon(password, "Ada Lovelace", "ada@example.org")


@pytest.mark.parametrize("password", ["only small letters", "one two three four", "näher am ziel 🙂"])
def test_there_are_no_composition_rules(password):
    must_be_uncommon(password, "Ada", None)


def test_every_listed_common_password_has_the_required_length():
    assert min(map(len, COMMON)) == 12
    assert len(COMMON) > 150


async def test_a_hash_is_argon2id_and_matches_only_its_password():
    passwords = Passwords()
    hashed = await passwords.hash("one two three four")
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert await passwords.match("one two three four", hashed)
    assert not await passwords.match("one two three fours", hashed)


async def test_equivalent_unicode_forms_are_the_same_password():
    passwords = Passwords(QUICK)
    assert await passwords.match("scho\u0308ne Aussicht", await passwords.hash("sch\u00f6ne Aussicht"))


async def test_checking_the_password_of_an_unknown_user_costs_as_much_as_a_known_one():
    passwords = Passwords(QUICK)
    assert not await passwords.match("one two three four", None)
    assert QUICK.check_needs_rehash(passwords.nobodys) is False


async def test_a_hash_with_other_parameters_is_outdated():
    passwords = Passwords(QUICK)
    assert not passwords.is_outdated(await passwords.hash("one two three four"))
    assert Passwords(PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)).is_outdated(
        await passwords.hash("one two three four")
    )


async def test_concurrent_password_checks_are_bounded_and_excess_ones_are_told_to_retry():
    passwords = Passwords(QUICK)
    hashed = await passwords.hash("one two three four")
    for _ in range(AT_ONCE):
        await passwords.free.acquire()
    waiting = [asyncio.create_task(passwords.match("one two three four", hashed)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)  # each task runs up to where it waits
    assert passwords.waiting == MOST_WAITING
    with pytest.raises(SignInBusy):
        await passwords.match("one two three four", hashed)
    for _ in range(AT_ONCE):
        passwords.free.release()
    assert all(await asyncio.gather(*waiting))
    assert passwords.waiting == 0
