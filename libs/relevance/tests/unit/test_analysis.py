from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.analysis import LONGEST_TERM, Analyzer
from relevance.languages import stemming_of


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
def test_text_is_split_into_terms(analyzer, text, terms):
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
def test_every_query_term_occurs_in_the_matching_text(analyzer, query, text):
    assert set(analyzer.terms(query)) <= set(analyzer.terms(text))


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("de", "Die Häuser der AuthServices", ["haus", "authservic", "auth", "servic"]),
        ("de-AT", "der Häuser", ["haus"]),
        ("fr", "la chevaux passés de l'école", ["cheval", "pass", "ecol"]),
        ("es", "informaciones informacion información", ["inform", "inform", "inform"]),
        ("ru", "синий синего ёлка", ["син", "син", "елк"]),
        ("uk", "snake_case сині", ["snake_case", "snake", "case", "сині"]),
        ("ja", "日本 signing", ["日本", "sign"]),
        (None, "signing of", ["sign"]),
    ],
)
def test_words_are_stemmed_in_the_language_of_the_document(analyzer, language, text, terms):
    assert analyzer.terms(text, stemming_of(language)) == terms


def test_every_language_has_a_stemmer(analyzer):
    codes = [first + second for first in string.ascii_lowercase for second in string.ascii_lowercase]
    names = {stemming_of(code) for code in codes}
    assert {"english", "simple", "german", "russian", "turkish"} < names
    assert all(analyzer.terms("v1.2.3", name) == ["v1.2.3", *analyzer.terms("v1 2 3", name)] for name in names)


@given(st.text(), st.sampled_from(["english", "simple", "german", "french", "russian", "greek", "arabic", "turkish"]))
def test_any_text_gives_terms_that_fit_into_the_index(analyzer, text, stemming):
    analysis = analyzer.analyse(text, stemming=stemming)
    assert analysis.length == sum(analysis.frequencies.values())
    for term in analysis.frequencies:
        assert 0 < len(term) <= LONGEST_TERM
        assert not set(term) & set('"\\{}, \t\n\r\x00')
        assert term == term.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the war of Häuser", [("war",), ("hauser", "haus")]),
        ("war die Schule groß", [("schule", "schul"), ("groß", "gross")]),
        ("war", [("war",)]),  # a stop word of one language alone
        ("AuthService is_owner", [("authservic",), ("auth",), ("servic",), ("is_owner",), ("owner", "own")]),
    ],
)
def test_a_query_is_analysed_in_several_languages(analyzer, text, expected):
    assert analyzer.readings(text, ["english", "german"]) == expected


def test_in_one_language_the_analysed_query_equals_the_terms(analyzer):
    text = "The quick AuthService of v1.2.3 at 東京都, running"
    assert [terms[0] for terms in analyzer.readings(text, ["english"])] == analyzer.terms(text)


def test_an_elision_is_recognised_only_in_its_own_language(analyzer):
    found = analyzer.readings("d'AuthService", ["english", "french"])
    assert {term for terms in found for term in terms} >= set(analyzer.terms("d'AuthService", "french"))


def test_every_identifier_in_a_path_is_found_as_a_whole(analyzer):
    terms = analyzer.terms("AuthService.signToken")
    assert terms == ["authservice.signtoken", "authservic", "signtoken", "auth", "servic", "sign", "token"]


@pytest.mark.parametrize("stemming", ["english", "german", "french", "turkish", "simple"])
def test_single_words_have_the_terms_that_a_text_of_them_has(stemming: str) -> None:
    text = "the tokens und Häuser größe naïve readings AuthService read_csv v1.2 l'école 007 straße 東京 a ılık"
    assert Analyzer().terms_of_words(text.split(), stemming) == set(Analyzer().terms(text, stemming))
