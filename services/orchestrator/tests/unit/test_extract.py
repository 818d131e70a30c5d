"""Extractive answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.citations.check import check
from orchestrator.citations.extract import MOST_SENTENCES, Highlighted, extract, unexplained, untold
from orchestrator.citations.named import NamedThings, named_in
from orchestrator.citations.question import kind_of
from orchestrator.citations.support import LONGEST_QUOTE
from orchestrator.citations.terms import terms
from service_kit.sentences import sentences

QUESTION = "When does a token expire?"
TEXT = "Tokens expire after fifteen minutes. The weather is fine. A token can be renewed."


def test_what_answers_best_is_quoted_first() -> None:
    text = "A token can be renewed. The weather is fine. Tokens expire after fifteen minutes in 2026."
    answer, cited = extract(QUESTION, [Highlighted("auth.md", text, [(0, 23, 0.9), (45, 89, 0.9), (24, 44, 0.1)])])
    assert answer.startswith("From auth.md: “Tokens expire after fifteen minutes in 2026.” [1]")
    assert (cited[0].start, cited[0].end) == (45, 89)
    assert "weather" not in answer


def test_the_same_sentence_is_quoted_once() -> None:
    passages = [Highlighted("a.md", TEXT, [(0, 36, 0.9)]), Highlighted("b.md", TEXT, [(0, 36, 0.9)])]
    assert extract(QUESTION, passages)[0].count("Tokens expire") == 1


def test_numbers_in_brackets_of_a_source_are_no_citations() -> None:
    source = "Tokens expire soon.[3] A token in `a[1]` expires twice."
    answer, cited = extract(QUESTION, [Highlighted("a[2].md", source, [(0, 22, 0.9), (23, 55, 0.9)])])
    assert answer == "From a2.md: `Tokens expire soon.[3]` [1] `A token in a[1] expires twice.` [2]"
    assert check(answer, cited, [source]).content == answer


def test_without_highlights_the_terms_of_the_question_decide() -> None:
    other = Highlighted("b.md", "It rains. Sessions expire like a token does.", [])
    answer, _ = extract(QUESTION, [Highlighted("a.md", TEXT, []), other])
    assert "“Tokens expire after fifteen minutes.” [1]" in answer
    assert "“Sessions expire like a token does.” [" in answer
    assert "weather" not in answer
    assert "rains" not in answer


def test_without_anything_in_common_the_best_passage_speaks() -> None:
    assert (
        extract("Why?", [Highlighted("a.md", TEXT, [])])[0] == "From a.md: “Tokens expire after fifteen minutes.” [1]"
    )
    assert extract(QUESTION, []) == ("", [])


def test_a_sentence_of_a_better_passage_is_worth_more() -> None:
    good = Highlighted("a.md", "Tokens expire soon.", [(0, 19, 0.5)], score=1.2)
    weak = Highlighted("b.md", "Any token expires at night.", [(0, 27, 0.5)], score=0.3)
    assert extract(QUESTION, [good, weak])[0] == "From a.md: “Tokens expire soon.” [1]"
    assert len(extract(QUESTION, [good, replace(weak, score=1.1)])[1]) == 2


@pytest.mark.parametrize(
    ("source", "quoted", "shown"),
    [
        ("| a | b |\n| - | - |\n| Redis | 7.4 |", "Redis | 7.4", "a: Redis · b: 7.4"),
        ("| Redis | 7.4 |", "Redis | 7.4", "Redis: 7.4"),
        ("Run a | b in it.", "Run a | b in it.", "Run a | b in it."),
        ("**Redis** keeps *all* 2*3*4.", "**Redis** keeps *all* 2*3*4.", "Redis keeps all 2*3*4."),
        ("It has:\n\n- Redis\n- S3", "It has:\n\n- Redis\n- S3", "It has: • Redis • S3"),
        ("Start:\n1. Redis\n2. S3", "Start:\n1. Redis\n2. S3", "Start: 1. Redis 2. S3"),
        ("/**\n * Redis keeps\n * all.\n */", "/**\n * Redis keeps\n * all.\n */", "Redis keeps all."),
        ("-- Redis\n-- keeps.", "-- Redis\n-- keeps.", "Redis keeps."),
        ('Redis keeps\n    all.\n    """', 'Redis keeps\n    all.\n    """', "Redis keeps all."),
        ("x = y ** 2 ** 3", "x = y ** 2 ** 3", "x = y ** 2 ** 3"),
    ],
)
def test_layout_is_not_shown_while_the_quote_stays_exact(source: str, quoted: str, shown: str) -> None:
    start = source.index(quoted)
    answer, (cited,) = extract("Redis?", [Highlighted("a", source, [(start, start + len(quoted), 0.9)])])
    assert answer == f"From a: “{shown}” [1]"
    assert source[cited.start : cited.end] == quoted


def test_a_long_sentence_is_cut_with_its_quote() -> None:
    source = "word " * 300
    answer, (cited,) = extract(QUESTION, [Highlighted("a.md", source, [(0, len(source), 1.0)])])
    assert cited.end - cited.start <= LONGEST_QUOTE
    assert source[cited.start : cited.end] in answer


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="ab[]1`“”. \n【】-|*/#", max_size=60), max_size=4))
def test_every_extractive_answer_passes_the_check(contents: list[str]) -> None:
    passages = [Highlighted("t", text, [(*span, 0.9) for span in sentences(text)]) for text in contents]
    answer, cited = extract(QUESTION, passages)
    checked = check(answer, cited, contents)
    assert len(cited) <= MOST_SENTENCES
    assert (checked.content, list(checked.cited), checked.removed) == (answer, cited, 0)


@given(st.text())
def test_sentences_are_spans_in_order(text: str) -> None:
    end = 0
    for start, stop in sentences(text):
        assert end <= start < stop
        assert text[start:stop] == text[start:stop].strip()
        end = stop


def test_terms_are_what_carries_meaning() -> None:
    assert terms("The tokens of the Token services") == terms("token service")
    assert terms("copy plays") == terms("copied playing") == terms("copying played")
    assert terms("Das ist die Rechnung") == {"rechnung"}
    assert terms("令牌有效期") & terms("令牌")


FIELDS = "PEP: 20\nTitle: The Zen of Python\nAuthor: Tim Peters\nStatus: Active"


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What does the Zen of Python say about errors?", "Errors should never pass silently."),
        ("Who is the author of the Zen of Python?", "Author: Tim Peters"),
        ("The Zen of Python?", "Errors should never pass silently."),
    ],
)
def test_the_fields_at_the_head_of_a_document_answer_only_what_goes_beyond_its_title(question, quoted) -> None:
    passages = [
        Highlighted("The Zen of Python", FIELDS, [(0, len(FIELDS), 0.56)]),
        Highlighted("The Zen of Python", "Errors should never pass silently.", [(0, 34, 0.3)]),
    ]
    assert extract(question, passages)[0].startswith(f"From The Zen of Python: “{quoted}")


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What is the Zen of Python?", "Twenty principles guide the design of the language."),
        ("Explain the Zen of Python", "Twenty principles guide the design of the language."),
        ("Could you explain errors of hidden programs?", "Errors should never pass silently in any program."),
    ],
)
def test_an_explanation_is_the_beginning_of_the_document_with_that_title_or_is_about_the_subject(
    question: str, quoted: str
) -> None:
    abstract = "Twenty principles guide the design of the language."
    text = "If it is hard to explain, it is bad. Errors should never pass silently in any program."
    passages = [
        Highlighted("The Zen of Python", text, [(0, 36, 0.6), (37, 86, 0.5)], section="Principles", place=1),
        Highlighted("The Zen of Python", abstract, [(0, 51, 0.3)], section="Abstract"),
    ]
    assert extract(question, passages)[0].startswith(f"From The Zen of Python: “{quoted}")


HANDBOOK = (
    "Until 6 November 2025 a refresh token lived 30 days.\n\n"
    "| Token | Lifetime | Used by |\n| - | - | - |\n| access token | 15 minutes | all services |\n"
    "| refresh token | 14 days | ProjectAlpha |\n"
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How long is a refresh token valid?", "Token: refresh token · Lifetime: 14 days · Used by: ProjectAlpha"),
        ("How long was a refresh token valid before?", "Until 6 November 2025 a refresh token lived 30 days."),
    ],
)
def test_what_no_longer_holds_comes_first_only_where_the_past_is_asked(question: str, first: str) -> None:
    answer, _ = extract(question, [Highlighted("h", HANDBOOK, [(0, 52, 0.6)])])
    assert answer.startswith(f"From h: “{first}” [1]")


def test_a_heading_that_asks_something_else_does_not_lift_what_stands_under_it() -> None:
    why = "The table had grown. With 14 days, and with one living token for each session, it holds 9 million rows."
    passages = [
        Highlighted("h", why, [(21, 103, 0.6)], section="Why refresh tokens live 14 days"),
        Highlighted("h", HANDBOOK, [(146, 184, 0.6)], section="Tokens"),
    ]
    answer, cited = extract("How long is a refresh token valid?", passages)
    assert answer.startswith("From h: “Token: refresh token · Lifetime: 14 days")
    assert cited[0].passage == 2
    assert extract("Why is a refresh token valid for 14 days?", passages)[1][0].passage == 1


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which pages fail when the cache is down?", "name"),
        ("Who decides when two teams disagree?", "person"),
        ("What should I do when it is full?", "step"),
        ("What happens when it is full?", "outcome"),
        ("Was passiert, wenn es voll ist?", "outcome"),
        ("When was it moved?", "time"),
        ("How old may it be?", "duration"),
        ("Wie hoch ist die Grenze?", "amount"),
        ("Was kostet die Fahrt?", "amount"),
        ("How deep is the harbour?", "amount"),
        ("In welchem Jahr war das?", "time"),
        ("What year was it opened?", "time"),
        ("Is it full?", ""),
    ],
)
def test_the_first_asking_words_tell_what_kind_of_answer_is_waited_for(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    "text",
    [
        "Until 2025 a token lived 30 days. Mara Lind shortened this to 14 days.",
        "A table keeps the token. With 14 days, and with one for each session, it holds fewer rows.",
    ],
)
def test_what_means_the_sentence_before_it_further_on_brings_it_along_too(text: str) -> None:
    start = text.index(". ") + 2
    answer, _ = extract("14 days?", [Highlighted("a", text, [(start, len(text), 0.9)])])
    assert answer == f"From a: “{text}” [1]"


def test_a_sentence_brings_along_what_its_pronoun_stands_for() -> None:
    text = "The UserDB keeps accounts. It runs on PostgreSQL. Nobody else writes."
    answer, (cited,) = extract("What does it run on?", [Highlighted("a", text, [(27, 49, 0.9)])])
    assert answer == "From a: “The UserDB keeps accounts. It runs on PostgreSQL.” [1]"
    assert text[cited.start : cited.end] == "The UserDB keeps accounts. It runs on PostgreSQL."


def test_a_numbered_step_is_quoted_with_its_number() -> None:
    text = "Step 1. Restart the cache. Step 2. Call the person on call."
    answer, _ = extract("What should I do with the cache?", [Highlighted("a", text, [(8, 26, 0.9), (35, 59, 0.5)])])
    assert answer.startswith("From a: “Step 1. Restart the cache.” [1]")


def test_both_parts_of_a_question_are_answered() -> None:
    text = "Mara Lind leads the team. The team was founded in May 2020. The team eats at noon."
    found = [(0, 25, 0.5), (26, 59, 0.3), (60, 82, 0.3)]
    answer, _ = extract("Who leads the team, and when was it founded?", [Highlighted("a", text, found)])
    assert "“Mara Lind leads the team.” [1]" in answer
    assert "“The team was founded in May 2020.” [2]" in answer
    assert "noon" not in answer


def test_who_calls_something_is_read_from_the_column_that_says_so() -> None:
    table = "| caller | calls |\n| - | - |\n| Billing | Auth |\n| Shop | Billing, Auth |\n| Crew | Billing, Mail |\n"
    answer, _ = extract("Who calls Billing?", [Highlighted("a", table, [(32, 46, 0.9)])])
    assert "caller: Shop · calls: Billing, Auth" in answer
    assert "caller: Crew · calls: Billing, Mail" in answer
    assert "caller: Billing" not in answer


@pytest.mark.parametrize(
    ("question", "there", "absent", "apart"),
    [
        ("What happened in INC-207 and INC-20?", ["INC-207"], ["INC-20"], True),
        ("What breaks when QuayDB is down?", [], ["QuayDB"], False),
        ("What breaks when OrderApi or SeatLedger is down?", ["OrderApi", "SeatLedger"], [], False),
        ("Does the Seat Ledger use Elasticsearch?", ["Seat Ledger"], ["Elasticsearch"], False),
        ("Who owns Albatross?", [], ["Albatross"], False),
        ("Who owns the Seat Ledger at IBM?", ["Seat Ledger"], [], False),
        ("Who writes on Mondays in March?", [], [], False),
        ("Who Owns The Harbour Team?", [], [], False),
        ("Wem gehört die Buchhaltung?", [], [], False),
        ("Was geschah in INC-9?", [], ["INC-9"], False),
    ],
)
def test_what_the_question_names_and_no_text_has_is_known(
    question: str, there: list[str], absent: list[str], apart: bool
) -> None:
    texts = ["inc-207.md", "The order-api writes to the Seat Ledger every Monday."]
    assert named_in(question, texts) == NamedThings(there, absent, apart)


def test_with_names_only_what_has_one_of_them_is_quoted() -> None:
    passages = [Highlighted("a", "Tokens expire at noon. Keys expire at night.", [(0, 22, 0.9), (23, 44, 0.8)])]
    assert extract("When do tokens and keys expire?", passages, ["Keys"])[0] == "From a: “Keys expire at night.” [1]"
    assert extract("When do tokens and keys expire?", passages, ["Locks"]) == ("", [])


PAGE = "BillingRouter takes a charge. It is owned by the Payments team. NotificationService is a service of Messaging."


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        ("Who owns the billing service?", PAGE, "BillingRouter takes a charge. It is owned by the Payments team."),
        ("Wem gehört BillingRouter?", PAGE, "BillingRouter takes a charge. It is owned by the Payments team."),
        ("What does Foghorn do?", "Foghorn does not use Lamp. Foghorn warns travellers.", "Foghorn warns travellers."),
        (
            "When is the pilot?",
            "The pilot is on 2 March 2026. The pilot moved from 2 March to 16 March 2026.",
            "The pilot moved from 2 March to 16 March 2026.",
        ),
        (
            "Who owns the Cache?",
            "The Cache runs on Redis. Nobody could say who owns it.",
            "The Cache runs on Redis. Nobody could say who owns it.",
        ),
        ("Who is responsible for Hub?", "Hub plant die Dienste. Zuständig für Hub ist Wen Tan.", "Zuständig für Hub"),
        (
            "What happens if a used token comes again?",
            "A token is replaced when used. A token is used twice. When a used token comes again, all are revoked.",
            "When a used token comes again",
        ),
        ("What happens if PMS is not available?", "Hub reads PMS. Ohne PMS fehlen die Kopfzahlen.", "Ohne PMS fehlen"),
        (
            "How much of the load did copying cause?",
            "Copying fell to 3 of 9 pages. Partners copied all pages, which caused a quarter of the load.",
            "Partners copied all pages",
        ),
        ("How fast is a search?", "A search needs no account. A search takes 240 ms.", "A search takes 240 ms."),
    ],
)
def test_what_answers_comes_first(question: str, text: str, first: str) -> None:
    assert extract(question, [Highlighted("a", text, [])])[0].startswith(f"From a: “{first}")


def test_what_stands_under_the_heading_that_is_asked_comes_first() -> None:
    passages = [
        Highlighted("INC-1", "It was the deletion that ended it.", [(0, 34, 0.6)], section="Context"),
        Highlighted("INC-1", "Priya Raman cancelled the deletion.", [(0, 35, 0.3)], section="How INC-1 was ended"),
    ]
    assert extract("Who ended INC-1?", passages)[0].startswith("From INC-1 › How INC-1 was ended: “Priya")


RUNBOOK = "Step 1. Restart UserDB.\n\nStep 2. Promote the replica of UserDB."


def test_behind_what_answers_best_the_text_keeps_its_order_and_steps_keep_theirs() -> None:
    later = Highlighted("a.md", "The export is checked at noon.", [], place=1)
    first = Highlighted("a.md", "Who owns the export is open. The export starts at 02:30. It goes to Fares.", [])
    answer, _ = extract("When does the export start?", [later, first])
    assert answer == "From a.md: “The export starts at 02:30.” [1]"
    rows = "| service | stores in |\n| - | - |\n| Fares | FareDB |\n| Berths | Ledger |\n| Crews | CrewDB |\n"
    answer, cited = extract("Which services store in the Ledger?", [Highlighted("a.md", rows, [])])
    assert answer.startswith("From a.md: “service: Berths")
    assert [one.start for one in cited[1:]] == sorted(one.start for one in cited[1:])
    steps = [(0, 23, 0.5), (25, len(RUNBOOK), 0.6)]
    answer, _ = extract("What should I do with UserDB?", [Highlighted("a.md", RUNBOOK, steps)])
    assert answer.index("Step 1.") < answer.index("Step 2.")


def test_a_heading_is_told_where_it_says_what_was_asked_and_the_quotation_does_not() -> None:
    job = Highlighted("What we run", "A job that starts at 02:30.", [], section="What we run > Ledger Export")
    assert extract("When does the Ledger Export start?", [job])[0] == (
        "From What we run › Ledger Export: “A job that starts at 02:30.” [1]"
    )
    assert extract("When does the job start?", [job])[0] == "From What we run: “A job that starts at 02:30.” [1]"


def test_who_asks_which_document_it_was_gets_the_one_whose_title_says_so() -> None:
    signing = Highlighted("INC-7: nobody could sign in", "The disk was full on 14 October.", [(0, 32, 0.4)])
    berths = Highlighted("INC-9: two ships", "After that incident nobody had to wait.", [(0, 39, 0.4)])
    asked = "Which incident was it in which nobody could sign in?"
    assert extract(asked, [berths, signing])[0].startswith("From INC-7: nobody could sign in: “The disk was full")


@pytest.mark.parametrize(
    ("question", "text", "section", "expected"),
    [
        ("Why does Falk own Foghorn?", "Falk owns Foghorn since 1 September 2025.", "", True),
        ("Why does Falk own Foghorn?", "Falk owns Foghorn since nobody else wanted it.", "", False),
        ("Why does Falk own Foghorn?", "Bookings had no pager for Foghorn.", "ADR-9 > Context", False),
        ("Why does Falk own Foghorn?", "Foghorn had no pager, so the board gave it to Falk.", "", False),
        ("Who owns Foghorn, and why?", "Falk owns Foghorn.", "", True),
        ("Warum gehört Foghorn dem Team Falk?", "Foghorn gehört dem Team Falk.", "", True),
        ("Who owns Foghorn?", "Falk owns Foghorn.", "", False),
    ],
)
def test_whether_what_is_quoted_gives_the_reason_that_was_asked_for_is_known(question, text, section, expected) -> None:
    passages = [Highlighted("a.md", text, [], section=section)]
    assert unexplained(question, passages, extract(question, passages)[1]) is expected


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("Why was the lighter operator rejected at first?", "The heavy operator is used because it is short.", True),
        ("Why was the operator rejected at first?", "Its rejection had one reason: the operator was too short.", False),
        ("Why did Ada Byron leave Foghorn?", "Ada Byron could not play for Foghorn because of a contract.", True),
        ("Why did Ada Byron leave Foghorn?", "Ada Byron left, as the work was done. She leaves Foghorn a book.", False),
        ("Why was the lighter operator rejected at first?", "We rejected MySQL because of two operators.", True),
        ("Who stole the key of Foghorn?", "Ada Byron wrote the rules of Foghorn.", True),
        ("Who stole the key of Foghorn?", "Ada Byron stole it from Foghorn.", False),
        ("Who wrote the rules of Foghorn?", "Ada Byron is the author of the rules of Foghorn.", False),
        ("Why was Kafka not chosen for Foghorn?", "Kafka would have meant more machines for Foghorn.", False),
        ("Warum wurde Ada Byron entlassen?", "Ada Byron holt eine Auskunft ein, weil das fehlt.", True),
        ("Warum wurde Ada Byron entlassen?", "Man hat Ada Byron entlassen, weil sie fehlte.", False),
        ("Who leads Foghorn?", "Foghorn is run by Ada Byron.", False),
        ("When did the fire happen?", "There was a fire on 4 May 2025.", False),
        ("How long does the ferry take?", "The ferry takes cars.", True),
        ("How long does the ferry take?", "The ferry takes 3 hours.", False),
        ("Wer leitet Foghorn?", "Falk leitet Foghorn.", False),
    ],
)
def test_whether_what_is_quoted_tells_of_the_supposed_event_is_known(question, text, expected) -> None:
    passages = [Highlighted("a.md", text, [])]
    assert untold(question, passages, extract(question, passages)[1]) is expected


def test_what_leads_to_a_list_is_quoted_with_the_list() -> None:
    text = (
        "A project is considered *abandoned* when ALL are met:\n\n* no release for a year;\n* no answer.\n\nIt rains."
    )
    answer, _ = extract("When is a project considered abandoned?", [Highlighted("a.md", text, [])])
    assert answer == (
        "From a.md: “A project is considered abandoned when ALL are met: • no release for a year; • no answer.” [1]"
    )


def test_what_the_question_has_itself_is_no_answer_to_when() -> None:
    text = "Support for 2.7 comes to its end. Support for 2.7 officially stopped on 1 January 2020."
    answer, _ = extract("When did support for 2.7 end?", [Highlighted("a.md", text, [])])
    assert "1 January 2020" in answer


@pytest.mark.parametrize("name", ["pep-0703.rst", "PEP 703"])
def test_another_document_of_the_series_does_not_answer_for_the_one_that_is_asked(name: str) -> None:
    other = "The PEP was accepted because the plan was good."
    asked = "The PEP was accepted because it makes code shorter."
    passages = [
        Highlighted("Making it optional", other, [], document_name=name),
        Highlighted("Assignment expressions", asked, [], score=0.9, document_name="pep-0572.rst"),
    ]
    answer, _ = extract("Why was PEP 572 accepted?", passages)
    assert "makes code shorter" in answer
    assert "the plan was good" not in answer
    assert extract("Why was PEP 572 accepted?", passages[:1]) == ("", [])
    assert "the plan was good" in extract("Why was the PEP accepted?", passages)[0]


def test_another_document_of_the_series_answers_where_it_tells_of_the_one_that_is_asked() -> None:
    other = "As PEP 572 was accepted because it makes code shorter, so was this. This was accepted because it helps."
    answer, _ = extract("Why was PEP 572 accepted?", [Highlighted("PEP 703", other, [])])
    assert answer == "From PEP 703: “As PEP 572 was accepted because it makes code shorter, so was this.” [1]"


def test_how_long_also_asks_for_a_length() -> None:
    text = "How long lines should be is debated. Limit all lines to a maximum of 79 characters. Long lines wrap badly."
    answer, _ = extract("How long should lines be at most?", [Highlighted("style.md", text, [])])
    assert answer.startswith("From style.md: “Limit all lines to a maximum of 79 characters.” [1]")


def test_an_address_alone_is_quoted_only_if_one_is_asked_for() -> None:
    text = "- https://example.org/token-expires\n- [A token expires](https://example.org/soon)\n- Tokens expire soon."
    passage = Highlighted("a.md", text, [(2, 35, 0.9)])
    assert "token-expires" not in extract(QUESTION, [passage])[0]
    assert "token-expires" in extract("Where does a token expire?", [passage])[0]


HEAD = "PEP: 11\nTitle: CPython platform support\nAuthor: Ada Byron\nStatus: Active\nResolution: https://example.org/pep-11\n"


@pytest.mark.parametrize(
    ("question", "name", "answer"),
    [
        ("Is PEP 11 still active?", "pep-0011.rst", "“Status: Active” [1]"),
        ("Is PEP 11 still in force?", "pep-0011.rst", "“Status: Active” [1]"),
        ("Was PEP 11 rejected?", "pep-0011.rst", "“Status: Active” [1]"),
        ("Who wrote PEP 11?", "pep-0011.rst", "“Author: Ada Byron” [1]"),
    ],
)
def test_the_head_of_a_document_answers_what_is_asked_about_the_document(question: str, name: str, answer: str) -> None:
    history = Highlighted("CPython platform support", "- Update to PEP 11 (Bob Stone)\n- Ports", [], document_name=name)
    head = Highlighted("CPython platform support", HEAD, [], document_name=name)
    assert extract(question, [history, head])[0] == f"From CPython platform support: {answer}"


def test_the_status_of_a_document_is_not_that_of_what_it_is_about() -> None:
    passage = Highlighted("ADR-007: ProjectBeta", "Status: accepted\n\nProjectBeta is active since May.", [])
    assert extract("Is ProjectBeta active?", [passage])[0].startswith(
        "From ADR-007: ProjectBeta: “ProjectBeta is active since May.” [1]"
    )


def test_a_verb_can_define_a_term_with_the_kind_of_thing_it_is() -> None:
    text = "David Foster contributed the first version of TypedDict. A TypedDict type represents dictionary objects."
    answer, _ = extract("What is a TypedDict?", [Highlighted("pep-0589.rst", text, [])])
    assert answer.startswith("From pep-0589.rst: “A TypedDict type represents dictionary objects.” [1]")


def test_a_sentence_with_all_words_precedes_one_whose_heading_has_them() -> None:
    text = "Note that builtins are lower case. Class names should normally use the CapWords convention."
    passage = Highlighted("Style guide", text, [(0, 34, 0.8), (35, 91, 0.8)], section="Class Names")
    answer, _ = extract("How should classes be named?", [passage])
    assert answer.startswith("From Style guide › Class Names: “Class names should normally use the CapWords")


def test_an_overview_of_a_document_is_the_beginning_of_its_abstract() -> None:
    head = Highlighted("Typed keys", "Author: Ada\nStatus: Final", [], document_name="pep-0589.rst")
    history = replace(head, content="Nobody had a type for this before. Years of discussion followed.", place=1)
    abstract = replace(
        head,
        content="This PEP gives dictionaries a type. The set of keys is fixed. Each key has a type.",
        section="Typed keys > Abstract",
        place=2,
    )
    other = Highlighted("Others", "PEP 589 adds a type.", [(0, 20, 0.9)], 2.0, document_name="pep-0649.rst")
    answer, cited = extract("What does PEP 589 add?", [other, head, history, abstract])
    assert answer.startswith("From Typed keys: “This PEP gives dictionaries a type.” [1]")
    assert {one.passage for one in cited} == {4}
    without, _ = extract("Summarize pep-589", [other, head, history])
    assert without.startswith("From Typed keys: “Nobody had a type for this before.” [1]")
    assert extract("What is PEP 612 about?", [other, head, history]) == ("", [])
    told = "3 January 2026, Lunnasound. Reported by Ada. At 11:20 two ships headed for the same pier."
    incident = Highlighted("Two ships", told, [], document_name="inc-231.md")
    assert extract("What happened in INC-231?", [incident])[0].startswith("From Two ships: “At 11:20 two ships")


def test_when_something_happened_is_told_by_the_date_of_the_document_that_is_named_like_it() -> None:
    head = "- Date: 28 October 2025, 09:12 to 09:59\n- Severity: 1\n- Incident lead: Priya Raman"
    done = "| action | done |\n|---|---|\n| Alarm at 80 percent of the connections of UserDB | 12 November 2025 |"
    incident = Highlighted("INC-112: no sign-in", head, [], 0.5, document_name="inc-112-userdb-connections.md")
    changed = replace(incident, content=done, section="What we changed", score=1.0, place=1)
    other = Highlighted(
        "Services", "UserDB was a MySQL server until October 2025.", [], 1.0, document_name="services.md"
    )
    answer, _ = extract("When was the UserDB incident?", [changed, other, incident])
    assert "“Date: 28 October 2025, 09:12 to 09:59” [1]" in answer.splitlines()[0]
    answer, _ = extract("When was the AuthService incident?", [changed, other, incident])
    assert "28 October" not in answer


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When did UserDB move to PostgreSQL?", "UserDB moved to PostgreSQL on 15 February 2025."),
        ("When was UserDB moved to PostgreSQL?", "UserDB moved to PostgreSQL on 15 February 2025."),
        ("When was the decision that UserDB moves to PostgreSQL?", "Date: 22 January 2025"),
        ("When was ADR-003 decided?", "Date: 22 January 2025"),
    ],
)
def test_the_date_of_a_decision_is_not_that_of_what_was_decided(question: str, first: str) -> None:
    text = "Status: accepted\nDate: 22 January 2025\n\nUserDB moved to PostgreSQL on 15 February 2025."
    decision = Highlighted("ADR-003: UserDB moves from MySQL to PostgreSQL", text, [], document_name="adr-003.md")
    assert f"“{first}” [1]" in extract(question, [decision])[0]


def test_a_table_with_one_column_is_no_head_of_a_document() -> None:
    """Regression: "Token Lifetime Used by", as PDF files have it, passed for a field that only says who."""
    rows = "| refresh token 14 days, replaced at each use ProjectAlpha |\n| device token 8 hours ProjectGamma |"
    table = Highlighted("Handbook", f"| Token Lifetime Used by |\n| --- |\n{rows}", [])
    other = Highlighted("Incident", "A token was 61 days old when the table of refresh tokens was read.", [])
    for question in ("How long is a refresh token valid?", "What is the lifetime of a refresh token?"):
        assert "refresh token 14 days, replaced at each use ProjectAlpha” [1]" in extract(question, [table, other])[0]


PROPOSAL = "PEP: 572\nTitle: Assignment Expressions\nAuthor: Ada Byron\nCreated: 28-Feb-2018\nPython-Version: 3.8"


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who wrote the PEP on assignment expressions?", "Author: Ada Byron"),
        ("Who is the author of the proposal for assignment expressions?", "Author: Ada Byron"),
        ("Wer hat den Vorschlag zu Assignment Expressions geschrieben?", "Author: Ada Byron"),
        ("When was the PEP on assignment expressions created?", "Created: 28-Feb-2018"),
        ("When was PEP 572 written?", "Created: 28-Feb-2018"),
        ("Which Python version has assignment expressions?", "Python-Version: 3.8"),
    ],
)
def test_a_question_about_a_document_is_answered_by_the_line_at_its_head_that_says_it(question: str, line: str) -> None:
    head = Highlighted("Assignment Expressions", PROPOSAL, [], 0.6, document_name="pep-0572.rst")
    essay = "Bob Stone wrote a brief essay on assignment expressions in the Python version of 1 May 2017."
    later = replace(head, content=essay, score=1.0, place=9)
    assert extract(question, [later, head])[0].startswith(f"From Assignment Expressions: “{line}” [1]")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who led the incident with duplicate receipts?", "Incident lead: Jonas Weber"),
        ("How long did the incident with duplicate receipts last?", "When: 19 February 2026, 17:40 to 18:25"),
        ("Wann war der Vorfall mit den doppelten Quittungen?", "When: 19 February 2026, 17:40 to 18:25"),
    ],
)
def test_the_head_of_a_report_says_who_led_and_when_it_was_and_how_long_it_lasted(question: str, answer: str) -> None:
    rows = "| | |\n|---|---|\n| When | 19 February 2026, 17:40 to 18:25 |\n| Incident lead | Jonas Weber |"
    head = Highlighted("INC-118: 3,412 duplicate receipts", rows, [], 0.6, document_name="inc-118.md")
    later = "Tomas Okafor led the incident with duplicate receipts in May 2025, which lasted two days."
    other = Highlighted("Notes on receipts", later, [], 1.0, document_name="notes.md")
    assert f"“{answer}” [1]" in extract(question, [other, head])[0].splitlines()[0]


@pytest.mark.parametrize("names", ["Ada Byron, Bob M. N. Stone and Eve von Ahn", "By **Ada Byron** ."])
def test_the_names_below_a_title_say_who_wrote_the_text(names: str) -> None:
    study = Highlighted("Dairy cattle in the subtropics", f"{names}\n\nBob Lee of Ely wrote on cattle too.", [])
    answer, cited = extract("Who wrote the study about dairy cattle?", [study])
    assert (cited[0].start, cited[0].end) == (0, len(names))
    assert "Ada Byron" in answer.splitlines()[0][:80]
    later = replace(study, place=3)
    assert extract("Who wrote the study about dairy cattle?", [later])[1][0].start > 0


@pytest.mark.parametrize(
    "question", ["How long may a line be?", "What is the maximum length of a line?", "Which line length is allowed?"]
)
def test_a_rule_precedes_what_holds_only_in_a_case_that_is_not_asked_for(question: str) -> None:
    text = (
        "For comments and other long texts, the length of a line is limited to 72 characters. "
        "It is okay to increase the length of a line to 99 characters. "
        "Limit all lines to a maximum of 79 characters."
    )
    found = [(0, 84, 0.9), (85, 146, 0.8), (147, 193, 0.75)]
    passage = Highlighted("Style guide", text, found)
    assert "“Limit all lines to a maximum of 79 characters.” [1]" in extract(question, [passage])[0]
    answer, _ = extract("How long may a line of a comment be?", [passage])
    assert answer.startswith("From Style guide: “For comments and other long texts")


def test_years_in_brackets_behind_a_name_say_when_somebody_was_born_and_died() -> None:
    text = (
        "Ada Byron died too early for it, as Bob Stone said in 1990. Ada Byron (10 May 1815 – 27 May 1852) wrote notes."
    )
    for question in ("When was Ada Byron born?", "Wann starb Ada Byron?"):
        answer, _ = extract(question, [Highlighted("a.md", text, [])])
        assert answer.startswith("From a.md: “Ada Byron (10 May 1815 – 27 May 1852) wrote notes.” [1]")


def test_who_created_a_document_is_told_by_its_author_before_its_title() -> None:
    text = "PEP: 572\nTitle: Assignment Expressions\nAuthor: Chris Angelico, Tim Peters\nCreated: 28-Feb-2018\n"
    passage = Highlighted("Assignment Expressions", text, [], document_name="pep-0572.rst")
    answer, _ = extract("Who created PEP 572 and when?", [passage])
    assert answer.startswith("From Assignment Expressions: “Author: Chris Angelico, Tim Peters” [1]")
    assert "Created: 28-Feb-2018" in answer
    assert "Title" not in answer


def test_what_was_decided_is_not_told_by_who_decided_it() -> None:
    head, decision = "- Status: accepted\n- Decided by: Priya Raman (Platform)\n\n", "We move UserDB to PostgreSQL 16."
    passage = Highlighted("ADR-003: UserDB moves", head + decision, [(len(head), len(head + decision), 0.5)])
    answer, _ = extract("What was decided about UserDB?", [passage])
    assert answer == "From ADR-003: UserDB moves: “We move UserDB to PostgreSQL 16.” [1]"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who was the incident lead of the UserDB incident?", "Incident lead: Priya Raman"),
        ("How severe was the UserDB incident?", "Severity: 1"),
    ],
)
def test_a_field_of_a_report_is_quoted_before_what_is_known_of_its_subject(question: str, answer: str) -> None:
    head = "- Date: 28 October 2025\n- Severity: 1\n- Incident lead: Priya Raman"
    incident = Highlighted("INC-112: no sign-in", head, [], 0.4, document_name="inc-112-userdb-connections.md")
    text = "Mara Lindqvist leads Identity and led UserDB before the severe incident."
    other = Highlighted("Services", text, [(0, len(text), 0.9)], 1.0, document_name="services.md")
    assert extract(question, [other, incident])[0].startswith(f"From INC-112: no sign-in: “{answer}” [1]")


def test_what_something_costs_is_told_by_its_overhead_too() -> None:
    text = "The build was released with support for a flag. The overhead of the build is 6 percent."
    passage = Highlighted("build.md", text, [(0, 47, 0.6), (48, 87, 0.6)])
    answer, _ = extract("What does the build cost?", [passage])
    assert answer.startswith("From build.md: “The overhead of the build is 6 percent.” [1]")


def test_the_header_of_a_table_is_not_quoted() -> None:
    text = "| action | owner |\n|---|---|\n| load test | Ada |\n| guest booking | Bob |"
    answer, _ = extract("Which actions were agreed?", [Highlighted("Meeting", text, [(0, 18, 0.9)])])
    assert "“action · owner" not in answer
    assert "“action: load test · owner: Ada” [1] “action: guest booking · owner: Bob” [2]" in answer


def test_a_german_verb_counts_as_a_whole_if_its_beginning_is_at_the_end_of_the_question() -> None:
    text = "Bei Gasgeruch nichts schalten und die Heizung verlassen."
    other = Highlighted("heizung.md", text, [(0, len(text), 0.5)], section="Störung")
    asked = Highlighted("heizung.md", "Hauptschalter der Heizung auf I stellen.", [(0, 40, 0.5)], section="Einschalten")
    answer, _ = extract("Wie schaltet man die Heizung ein?", [other, asked])
    assert "“Hauptschalter der Heizung auf I stellen.” [1]" in answer.splitlines()[0]


def test_how_something_is_done_is_told_by_what_says_how() -> None:
    text = "The format of a label is old. Labels are formatted with a dash in the middle."
    passage = Highlighted("labels.md", text, [(0, 29, 0.8), (30, 77, 0.8)])
    answer, _ = extract("How is a label formatted?", [passage])
    assert answer.startswith("From labels.md: “Labels are formatted with a dash in the middle.” [1]")


def test_what_a_document_describes_comes_after_what_it_says_itself() -> None:
    text = "This PEP documents the format of labels. Labels are always formatted in capitals."
    passage = Highlighted("labels.rst", text, [(0, 40, 0.9), (41, 81, 0.8)])
    assert "“Labels are always formatted" in extract("How are labels formatted?", [passage])[0].split(" [1]")[0]
    proposed = replace(
        passage, content=text.replace("documents the format", "proposes a format").replace("always ", "")
    )
    assert "“This PEP proposes" in extract("How are labels formatted?", [proposed])[0].split(" [1]")[0]


ADVICE = (
    "Pens may be used solely to sign a form. For years pens were recommended for forms."
    " Pencils are the preferred way to fill in forms."
)


@pytest.mark.parametrize("question", ["Should I use pens or pencils?", "What is the best way to fill in forms?"])
def test_what_is_advised_precedes_what_is_allowed_in_some_cases_or_was_advised_once(question: str) -> None:
    assert extract(question, [Highlighted("forms.md", ADVICE, [])])[0].startswith("From forms.md: “Pencils are")


@pytest.mark.parametrize(
    ("question", "definition"),
    [
        ("What is a beacon?", "A beacon (also known as a mark) is a fixed light."),
        ("What are beacons?", "Beacons were the lights of the coast."),
        ("Was ist eine Bake?", "Unter einer Bake versteht man ein festes Zeichen."),
        ("What is an LNB?", "LNB:\n\n  Large navigational buoy, with a light and a horn."),
    ],
)
def test_what_something_is_precedes_what_is_said_about_it(question: str, definition: str) -> None:
    about = "Beacons are painted each spring. An LNB is towed home. Die Bake ist frisch gestrichen."
    answer, _ = extract(question, [Highlighted("coast.md", f"{about}\n\n{definition}", [])])
    assert answer == f"From coast.md: “{' '.join(definition.split())}” [1]"


def test_the_words_of_a_title_name_no_case_of_a_rule() -> None:
    text = "For labels of a team that agrees, it is okay to have 99 characters. Limit all labels to 79 characters."
    passage = Highlighted("Guide to labels of a team", text, [(0, 67, 0.9), (68, 102, 0.8)])
    answer, _ = extract("How long can a label of a team be?", [passage])
    assert answer.startswith("From Guide to labels of a team: “Limit all labels to 79 characters.” [1]")


@pytest.mark.parametrize(
    ("question", "told", "reason"),
    [
        ("Why was the launch moved?", "The launch was moved to May.", "A month was lost because the crane broke."),
        ("Warum fällt das Fest aus?", "Das Fest fällt in diesem Jahr aus.", "Grund ist das Gerüst im Hof."),
    ],
)
def test_a_reason_in_the_next_sentence_is_quoted_with_what_it_is_the_reason_for(question, told, reason) -> None:
    passages = [Highlighted("plan.md", f"{told} {reason} The weather is fine.", [])]
    answer, cited = extract(question, passages)
    assert answer == f"From plan.md: “{told} {reason}” [1]"
    assert not unexplained(question, passages, cited)
    apart = [replace(passages[0], content=f"{told}\n\n{reason}")]
    assert f"{told} {reason}" not in extract(question, apart)[0]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Wann beginnen die Arbeiten am Dach?", "Am 4. Mai fangen die Dachdecker an."),
        ("Was kosten die Arbeiten?", "Die Arbeiten kosten 214.000 Euro."),
        ("Wer darf eine Katze halten?", "Katzen hält nur Frau Ott."),
    ],
)
def test_german_words_are_found_with_endings_and_joined_with_others(question: str, first: str) -> None:
    text = "Die Arbeiten kosten 214.000 Euro. Am 4. Mai fangen die Dachdecker an. Katzen hält nur Frau Ott."
    assert extract(question, [Highlighted("Haus 3", text, [])])[0].startswith(f"From Haus 3: “{first}” [1]")


def test_a_sum_tells_what_something_did_cost() -> None:
    text = "The cost of the pier made many people angry. The cost of the pier was over US$100,000."
    answer, _ = extract("What did the pier cost?", [Highlighted("pier.md", text, [(0, 44, 0.7), (45, 86, 0.6)])])
    assert answer.startswith("From pier.md: “The cost of the pier was over US$100,000.” [1]")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Wie lange gilt die Nachtruhe?", "Nachtruhe ist von 22 bis 6 Uhr."),
        ("Bis wann muss der Keller leer sein?", "Der Keller muss bis zum 3. April leer sein."),
        ("Wer ist der Hausmeister?", "Marken gibt es beim Hausmeister, Herrn Oduya."),
    ],
)
def test_a_span_of_hours_a_deadline_and_a_person_are_found_in_german(question: str, first: str) -> None:
    text = (
        "An Silvester gilt die Nachtruhe nicht. Den Hausmeister fragt man nach dem Schlüssel zum Keller."
        " Der Keller ist leer seit dem Sommer 2024. Nachtruhe ist von 22 bis 6 Uhr."
        " Marken gibt es beim Hausmeister, Herrn Oduya. Der Keller muss bis zum 3. April leer sein."
    )
    assert extract(question, [Highlighted("Haus 3", text, [])])[0].startswith(f"From Haus 3: “{first}” [1]")
