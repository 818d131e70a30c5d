from uuid import UUID, uuid5

from service_kit.idempotency import creation_id

ONE, OTHER = UUID(int=1), UUID(int=2)


def test_the_same_key_gives_the_same_id_within_its_scope_and_kind() -> None:
    assert creation_id(ONE, "key") == creation_id(ONE, "key") == uuid5(ONE, "key")
    ids = {
        creation_id(ONE, "key"),
        creation_id(OTHER, "key"),
        creation_id(ONE, "key2"),
        creation_id(ONE, "key", "run/"),
    }
    assert len(ids) == 4


def test_without_a_key_every_id_is_new() -> None:
    assert creation_id(ONE, None) != creation_id(ONE, None)
