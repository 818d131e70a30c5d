from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.analysis import LONGEST_TERM, Analyzer


@pytest.fixture(scope="module")
def analyzer():
    return Analyzer()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The tokens of the AuthService", ["token", "authservic", "auth", "servic"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("upgrade to v1.2.3 or 2.0", ["upgrad", "v1.2.3", "v1", "2", "3", "2.0"]),
        ("CVE-2021-44228", ["cve-2021-44228", "cve", "2021", "44228"]),
        ("ERR_CONN_RESET (E1234, 0x80070057)", ["err_conn_reset", "err", "conn", "reset", "e1234", "0x80070057"]),
        ("state-of-the-art", ["state", "art"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("HTTPServer parseJSON", ["httpserver", "http", "server", "parsejson", "pars", "json"]),
        ("mRNA iPhone DNA", ["mrna", "iphon", "dna"]),
        ("pep-0008.rst", ["pep-0008.rst", "pep", "8", "rst"]),
        ("Ada's don't", ["ada", "dont"]),
        ("Café Müller ﬁne", ["cafe", "muller", "fine"]),
        ("日本語の検索", ["日本", "本語", "語の", "の検", "検索"]),
        ("東", ["東"]),
        ("हिन्दी", ["हिन्दी"]),
        ("the of and", []),
        ("", []),
    ],
)
def test_terms(analyzer, text, terms):
    assert analyzer.terms(text) == terms


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("authservice", "AuthService"),
        ("auth service", "AuthService"),
        ("AUTHSERVICE", "AuthService"),
        ("PEP 8", "pep-0008"),
        ("signing", "signed"),
    ],
)
def test_every_term_of_the_query_is_in_the_text(analyzer, query, text):
    assert set(analyzer.terms(query)) <= set(analyzer.terms(text))


@given(st.text())
def test_any_text_gives_terms_that_the_index_can_hold(analyzer, text):
    analysis = analyzer.analyse(text)
    assert analysis.length == sum(analysis.frequencies.values())
    for term in analysis.frequencies:
        assert 0 < len(term) <= LONGEST_TERM
        assert not set(term) & set('"\\{}, \t\n\r\x00')
        assert term == term.strip()
