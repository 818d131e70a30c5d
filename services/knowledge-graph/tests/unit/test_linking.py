from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.linking import candidates, longest_known


def linked(text: str, *known: str) -> list[str]:
    by_id = {entity_id(name_key(name)): name for name in known}
    return [by_id[one] for one in longest_known(candidates(text), by_id)]


def test_names_in_any_spelling():
    assert linked("what calls the auth service?", "AuthService") == ["AuthService"]
    assert linked("Is Maria Keller's team using user_db", "Maria Keller", "UserDB") == ["Maria Keller", "UserDB"]


def test_the_longest_name_wins():
    assert linked("the payment gateway team", "Gateway", "Payment Gateway") == ["Payment Gateway"]


def test_stop_words_and_unknown_names_are_not_linked():
    assert linked("is it the one?", "One", "It") == []
    assert linked("💥", "AuthService") == []
