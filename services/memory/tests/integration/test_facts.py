"""Facts from a turn's question: stored once, corrected, recalled as of a time, and deleted with its session."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contracts.events import TURNS, SessionDeleted
from contracts.gateway import Role
from contracts.reflections import Reflection, StyleAspect

GINA = {"role": "speaker", "speaker": "Gina"}
JANUARY, MAY, JUNE = (datetime(2026, month, 5, 12, tzinfo=UTC) for month in (1, 5, 6))


@pytest.fixture
async def facts(client, auth_headers):
    async def read(**who):
        found = (await client.get("/v1/memories", headers=auth_headers(**who))).json()["items"]
        return {one["content"]: one for one in found if one["fact"]}

    return read


@pytest.fixture
async def answer(client, auth_headers):
    async def ask(query, **more):
        body = {"query": query, **more}
        found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()
        return found["answer"]["text"] if found["answer"] else None

    return ask


async def test_a_move_is_remembered_together_with_the_previous_residence(streams, facts, answer, principal):
    await streams.turn(principal.user_id, "I live in Munich.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "I moved to Berlin last week.", [], asked_at=JUNE)
    await streams.drained(TURNS)
    known = await facts()
    old, new = known["I live in Munich."]["fact"], known["I moved to Berlin last week."]["fact"]
    assert (new["object"], new["supersedes"], new["phrase"]) == (
        "Berlin",
        known["I live in Munich."]["id"],
        "last week",
    )
    assert old["valid_to"] == new["valid_from"] == "2026-05-25T00:00:00Z"
    assert old["expired_at"]
    assert (await answer("Where do I live?")).startswith("You live in Berlin.")
    assert (await answer("Where did I live in March?")).startswith("In March you lived in Munich.")
    assert (await answer("Where do I live?", as_of=MAY.isoformat())).startswith("You live in Munich.")


async def test_facts_about_projects_are_answered_with_speaker_and_history(streams, facts, answer, principal):
    await streams.turn(principal.user_id, "We use PostgreSQL 18 since April, Anna leads it.", [], asked_at=MAY)
    await streams.turn(principal.user_id, "The Atlas project is owned by Anna.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "Atlas is now owned by Ben", [], asked_at=JUNE)
    await streams.drained(TURNS)
    known = await facts()
    assert (
        known["Atlas is now owned by Ben"]["fact"]["supersedes"] == known["The Atlas project is owned by Anna."]["id"]
    )
    assert (await answer("Who owns Atlas?")) == "Ben owns Atlas. You said on 5 June 2026: Atlas is now owned by Ben."
    assert (await answer("Who owned it in May?", before="Who owns Atlas?")).startswith("In May Anna owned Atlas.")
    assert (await answer("Which database do we use?")).startswith("The database is PostgreSQL 18.")
    assert (await answer("Wer leitet PostgreSQL 18?")).startswith("Anna leitet PostgreSQL 18. Du sagtest am 5. Mai")
    assert await answer("Who owns Heron?") is None


async def test_a_question_about_someone_close_finds_what_was_said_by_name(streams, answer, principal):
    await streams.turn(principal.user_id, "My brother Max lives in Vienna.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "My brother in law lives in Oslo.", [], asked_at=MAY)
    await streams.drained(TURNS)
    found = await answer("Where does my brother live?")
    assert found.startswith("Your brother lives in Vienna.")
    assert "Oslo" not in found


async def test_a_correction_reaches_its_fact_although_a_question_came_between(
    client, streams, answer, principal, auth_headers
):
    session = uuid4()
    said = ("I moved to Hamburg in September.", "What can you tell me about tides?", "No, sorry, I meant Bremen.")
    correction = {"query": said[2], "before": said[1], "session_id": str(session)}
    for text in said[:2]:
        await streams.turn(principal.user_id, text, [], session_id=session)
    await streams.drained(TURNS)
    told = (await client.post("/v1/memories/recall", json=correction, headers=auth_headers())).json()["told"]
    assert told["text"] == "Noted: I will remember this."
    await streams.turn(principal.user_id, said[2], [], session_id=session)
    await streams.drained(TURNS)
    assert (await answer("Where do I live?")).startswith("You live in Bremen.")


async def test_a_correction_that_may_be_about_the_question_changes_nothing_and_is_asked_about(
    client, streams, answer, principal, auth_headers
):
    session = uuid4()
    said = ("I live in Hamburg.", "Who founded Rome?", "Sorry, I meant Troy.")
    for text in said:
        await streams.turn(principal.user_id, text, [], session_id=session)
    await streams.drained(TURNS)
    correction = {"query": said[2], "before": said[1], "session_id": str(session)}
    told = (await client.post("/v1/memories/recall", json=correction, headers=auth_headers())).json()["told"]
    assert told["text"].startswith("I am not sure what this corrects")
    assert (await answer("Where do I live?")).startswith("You live in Hamburg.")


async def test_what_is_known_about_who_asks_is_listed_without_what_others_told(
    client, streams, principal, auth_headers
):
    async def recalled():
        body = {"query": "What do you know about me?"}
        return (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()

    nothing = await recalled()
    assert (nothing["answer"], nothing["told"]["text"]) == (None, "I remember nothing about that.")
    await streams.turn(principal.user_id, "I live in Hamburg.", [], asked_at=MAY)
    await streams.turn(principal.user_id, "My manager is Ines.", [], asked_at=JUNE)
    await streams.turn(uuid4(), "I live in Rome.", [], asked_at=JUNE)
    await streams.drained(TURNS)
    listed = "- My manager is Ines (5 June 2026)\n- I live in Hamburg (5 May 2026)"
    assert (await recalled())["answer"]["text"] == f"This is what I remember from you:\n{listed}"


async def test_a_personal_question_without_a_fact_quotes_what_was_said_or_says_that_nothing_was(
    client, streams, principal, auth_headers
):
    async def unanswered(question):
        found = await client.post("/v1/memories/recall", json={"query": question}, headers=auth_headers())
        return found.json()["unanswered"]

    assert (await unanswered("What is the name of my boat?"))["text"].startswith("I remember nothing about that")
    await streams.turn(principal.user_id, "We painted my boat, the Dolphin, dark green.", [], asked_at=MAY)
    await streams.drained(TURNS)
    told = await unanswered("Which colour does my boat have?")
    assert told["known"]
    assert told["text"].endswith("You said on 5 May 2026: We painted my boat, the Dolphin, dark green.")
    assert await unanswered("Who leads Atlas?") is None


async def test_a_sentence_that_no_rule_understands_answers_the_question_whose_words_it_has(
    client, streams, principal, auth_headers
):
    async def reply_to(question):
        found = await client.post("/v1/memories/recall", json={"query": question}, headers=auth_headers())
        return found.json()["unanswered"]

    await streams.turn(principal.user_id, "I prefer short answers", [], asked_at=MAY)
    await streams.turn(principal.user_id, "Hi! The microscope has moved to room 4, next to Ada.", [], asked_at=JUNE)
    await streams.drained(TURNS)
    said = "You said on 5 June 2026:"
    assert (await reply_to("Where is the microscope?"))["text"] == (
        f"{said} The microscope has moved to room 4, next to Ada."
    )
    assert await reply_to("Where is the centrifuge?") is None
    assert (await reply_to("Where do I live?"))["text"] == "I remember nothing about that."


async def test_a_corrected_message_is_recalled_after_its_correction(client, streams, principal, auth_headers):
    await streams.turn(principal.user_id, "My shoe size is 42.", [], asked_at=MAY)
    await streams.turn(principal.user_id, "No, my shoe size is 43.", [], asked_at=JUNE)
    await streams.drained(TURNS)
    body = {"query": "What is my shoe size?", "kinds": ["episode"]}
    found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    assert found[0]["content"] == "No, my shoe size is 43."
    assert not any(one["superseded"] for one in found[:1])
    assert all(one["superseded"] for one in found if "size is 42" in one["content"])


async def test_what_a_team_said_answers_its_question_and_other_questions_are_left_to_the_documents(
    client, streams, answer, principal, auth_headers
):
    async def left_to_documents(question):
        found = (await client.post("/v1/memories/recall", json={"query": question}, headers=auth_headers())).json()
        return found["answer"] is None and found["unanswered"] is None

    assert await left_to_documents("When is our launch?")
    for text in ("Our launch is on 12 March.", "Our office is in Potsdam.", "We have 14 customers."):
        await streams.turn(principal.user_id, text, [], asked_at=MAY)
    await streams.drained(TURNS)
    said = "You said on 5 May 2026:"
    assert await answer("When is our launch?") == f"Launch: 12 March. {said} Our launch is on 12 March."
    assert await answer("Wann ist unser Launch?") == (
        "Launch: 12 March. Du sagtest am 5. Mai 2026: Our launch is on 12 March."
    )
    assert await answer("Where is our office?") == f"Office: Potsdam. {said} Our office is in Potsdam."
    assert await answer("How many customers do we have?") == (
        f"The number of customers is 14. {said} We have 14 customers."
    )
    for question in (
        "When is our offsite?",
        "When is our launch party?",
        "Where is our repository?",
        "Who is our CTO?",
    ):
        assert await left_to_documents(question)


async def test_someone_close_is_found_by_name_alone(streams, answer, principal):
    await streams.turn(principal.user_id, "My sister Laura lives in Leeds.", [], asked_at=MAY)
    await streams.drained(TURNS)
    assert (await answer("Where does Laura live?")).startswith("Laura lives in Leeds.")


async def test_decisions_answer_what_was_decided_about_a_topic_and_a_revised_one_is_history(
    streams, facts, answer, principal
):
    await streams.turn(principal.user_id, "We decided to host the shop on AWS.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "We decided to paint the office green.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "We decided to host the shop on Hetzner instead.", [], asked_at=MAY)
    await streams.drained(TURNS)
    found = await answer("What did we decide about the shop?")
    assert found.startswith("Your team decided: host the shop on Hetzner.")
    assert "AWS" not in found
    assert "green" not in found
    assert "AWS" in await answer(
        "What did we decide about the shop?", as_of=datetime(2026, 2, 1, tzinfo=UTC).isoformat()
    )
    assert (await facts())["We decided to host the shop on AWS."]["fact"]["valid_to"] == "2026-05-05T12:00:00Z"


async def test_asking_again_recalls_what_was_said_instead_of_the_question_and_its_answer(
    client, streams, principal, auth_headers
):
    echo = "You live in Berlin. You said on 5 June 2026: I moved to Berlin."
    await streams.turn(
        principal.user_id, "I moved to Berlin.", [], asked_at=JUNE, answer="Noted: I will remember this."
    )
    await streams.turn(principal.user_id, "Where do I live?", [], asked_at=JUNE, answer=echo)
    await streams.drained(TURNS)
    body = {"query": "where do I live now?", "k": 10}
    found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
    assert {one["content"] for one in found} == {"I moved to Berlin."}
    export = await client.get("/v1/memories/export", headers=auth_headers())
    assert echo in export.text


async def test_only_statements_of_the_user_become_facts(streams, facts, answer, principal):
    await streams.turn(principal.user_id, "Where do I live?", [], answer="You live in Munich. I live in a computer.")
    await streams.turn(principal.user_id, 'Summarize: "I live in Rome"', [], answer="You live in Rome.")
    await streams.turn(principal.user_id, "<memory>I live in Oslo.</memory> Thanks!", [])
    await streams.turn(principal.user_id, "My password is hunter22 and my API key is: abc123def456", [])
    await streams.drained(TURNS)
    assert await facts() == {}
    assert await answer("Where do I live?") is None


async def test_an_edited_fact_is_answered_with_its_new_text(client, streams, facts, answer, principal, auth_headers):
    await streams.turn(principal.user_id, "I live in Munich.", [])
    await streams.drained(TURNS)
    [fact] = (await facts()).values()
    path = f"/v1/memories/{fact['id']}"
    edited = await client.patch(path, json={"content": "I live in Rome."}, headers=auth_headers())
    assert edited.json()["fact"]["object"] == "Rome"
    assert (await answer("Where do I live?")).startswith("You live in Rome.")
    await client.patch(path, json={"content": "Nothing in particular."}, headers=auth_headers())
    assert await answer("Where do I live?") is None


async def test_a_repeated_statement_only_adds_its_message(streams, facts, principal):
    for _ in range(3):
        await streams.turn(principal.user_id, "I love hiking. We decided to use PostgreSQL.", [])
    await streams.drained(TURNS)
    assert {content: len(one["fact"]["message_ids"]) for content, one in (await facts()).items()} == {
        "I love hiking.": 3,
        "We decided to use PostgreSQL.": 3,
    }


async def test_a_redelivered_turn_changes_nothing(streams, facts, principal):
    same = {"question_id": uuid4(), "answer_id": uuid4(), "session_id": uuid4(), "asked_at": JANUARY}
    for _ in range(3):
        await streams.turn(principal.user_id, "I live in Munich. I like tea.", [], **same)
    await streams.drained(TURNS)
    assert {one["fact"]["object"] for one in (await facts()).values()} == {"Munich", "tea"}
    assert all(one["fact"]["message_ids"] == [str(same["question_id"])] for one in (await facts()).values())


async def test_conflicting_facts_are_both_kept_and_marked(streams, facts, principal):
    await streams.turn(principal.user_id, "My locker is number 12.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "My locker is number 15.", [], asked_at=MAY)
    await streams.drained(TURNS)
    known = await facts()
    assert [one["fact"]["valid_to"] for one in known.values()] == [None, None]
    assert known["My locker is number 15."]["fact"]["conflicts_with"] == known["My locker is number 12."]["id"]


async def test_deleting_a_session_deletes_its_facts_and_reopens_those_they_ended(streams, facts, answer, principal):
    gone = uuid4()
    await streams.turn(principal.user_id, "I live in Munich.", [], asked_at=JANUARY)
    await streams.turn(principal.user_id, "I moved to Berlin.", [], asked_at=MAY, session_id=gone)
    await streams.turn(principal.user_id, "I like tea.", [], asked_at=MAY, session_id=gone)
    await streams.turn(principal.user_id, "I like tea.", [], asked_at=JUNE)
    await streams.drained(TURNS)
    assert (await answer("Where do I live?")).startswith("You live in Berlin.")
    await streams.send(SessionDeleted(session_id=gone))
    await streams.drained(TURNS)
    assert set(await facts()) == {"I live in Munich.", "I like tea."}
    assert (await answer("Where do I live?")).startswith("You live in Munich.")


async def test_facts_are_private_to_their_user(client, streams, facts, principal, auth_headers):
    await streams.turn(principal.user_id, "I live in Munich.", [])
    await streams.drained(TURNS)
    [fact] = (await facts()).values()
    stranger = auth_headers(user_id=uuid4())
    recalled = (await client.post("/v1/memories/recall", json={"query": "Where do I live?"}, headers=stranger)).json()
    assert (recalled["memories"], recalled["answer"]) == ([], None)
    assert (await client.get("/v1/memories/profile", headers=stranger)).json() == {"style": [], "facts": []}
    assert (await client.post(f"/v1/memories/{fact['id']}/approve", headers=stranger)).status_code == 404


async def test_a_workspace_can_disable_or_review_facts(client, streams, facts, answer, principal, auth_headers):
    path = "/v1/memories/settings"
    assert (await client.get(path, headers=auth_headers())).json() == {"writing": "on", "retention_days": None}
    refused = await client.put(path, json={"writing": "off"}, headers=auth_headers(role=Role.editor))
    assert refused.status_code == 403
    await client.put(path, json={"writing": "off"}, headers=auth_headers())
    await streams.turn(principal.user_id, "I like coffee.", [])
    await streams.drained(TURNS)
    assert await facts() == {}

    await client.put(path, json={"writing": "review"}, headers=auth_headers())
    await streams.turn(principal.user_id, "I live in Munich.", [])
    await streams.drained(TURNS)
    [fact] = (await facts()).values()
    assert not fact["fact"]["approved"]
    assert await answer("Where do I live?") is None
    await client.post(f"/v1/memories/{fact['id']}/approve", headers=auth_headers())
    assert (await answer("Where do I live?")).startswith("You live in Munich.")


async def test_the_profile_contains_style_and_facts_within_its_budget(client, streams, principal, auth_headers):
    await streams.turn(principal.user_id, "Please always answer in short sentences. I live in Munich.", [])
    await streams.drained(TURNS)
    profile = (await client.get("/v1/memories/profile", headers=auth_headers())).json()
    assert profile == {"style": ["Please always answer in short sentences."], "facts": ["I live in Munich."]}
    small = (await client.get("/v1/memories/profile?token_budget=11", headers=auth_headers())).json()
    assert small == {"style": ["Please always answer in short sentences."], "facts": []}
    for asked, told in (({}, None), ({"profile_tokens": 11}, small), ({"profile_tokens": 500}, profile)):
        body = {"query": "What is the capital of France?", **asked}
        recalled = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()
        assert (recalled["memories"], recalled["profile"]) == ([], told)


def conversation(count: int):
    return {
        "id": "talk",
        "messages": [
            {
                "id": str(one),
                "role": "speaker",
                "speaker": "Gina",
                "content": f"Line {one}",
                "at": "2026-01-05T12:00:00",
            }
            for one in range(count)
        ]
        + [
            {
                "id": "move",
                "role": "speaker",
                "speaker": "Gina",
                "content": "I moved to Porto.",
                "at": "2026-01-05T13:00:00",
            }
        ],
    }


async def test_an_interrupted_or_repeated_import_adds_no_duplicates(client, facts, answer, auth_headers):
    body = {"source": "a messenger", "time_zone": "Europe/Lisbon", "conversations": [conversation(3)]}
    part = {**body, "conversations": [{**conversation(3), "messages": conversation(3)["messages"][:2]}]}
    await client.post("/v1/memories/import", json=part, headers=auth_headers())
    first = (await client.post("/v1/memories/import", json=body, headers=auth_headers())).json()
    again = (await client.post("/v1/memories/import", json=body, headers=auth_headers())).json()
    assert (first["added"], first["known"], first["facts"]) == (2, 2, 1)
    assert (again["added"], again["known"], again["facts"]) == (0, 4, 0)
    assert again["message_ids"] == first["message_ids"]
    [fact] = (await facts()).values()
    assert (fact["fact"]["subject"], fact["fact"]["object"]) == ("Gina", "Porto")
    assert (await answer("Where does Gina live?")).startswith("Gina lives in Porto.")


BRITISH, AMERICAN, PLAIN = (
    Reflection(kind="style", aspect=StyleAspect.spelling, text="Use British spelling."),
    Reflection(kind="style", aspect=StyleAspect.spelling, text="Use American spelling."),
    Reflection(kind="style", aspect=StyleAspect.tone, text="Write soberly."),
)
TASK = "Write a page on tokens in British spelling."


async def test_a_reflection_is_stored_once_for_its_message_and_replaced_by_a_contrary_one(
    client, streams, facts, principal, auth_headers
):
    first, again = uuid4(), uuid4()
    turn = {"question_id": first, "answer_id": uuid4(), "reflections": [BRITISH, PLAIN], "asked_at": JANUARY}
    for _ in range(2):  # a redelivery adds nothing
        await streams.turn(principal.user_id, TASK, [], **turn)
    await streams.turn(
        principal.user_id, "And one on keys, please.", [], question_id=again, reflections=[BRITISH], asked_at=MAY
    )
    await streams.drained(TURNS)
    known = await facts()
    assert set(known) == {"Use British spelling.", "Write soberly."}
    assert known["Use British spelling."]["kind"] == "style"
    assert set(known["Use British spelling."]["fact"]["message_ids"]) == {str(first), str(again)}
    await streams.turn(principal.user_id, "The next one.", [], reflections=[AMERICAN], asked_at=JUNE)
    await streams.drained(TURNS)
    known = await facts()
    assert known["Use American spelling."]["fact"]["supersedes"] == known["Use British spelling."]["id"]
    profile = (await client.get("/v1/memories/profile", headers=auth_headers())).json()
    assert profile == {"style": ["Use American spelling.", "Write soberly."], "facts": []}
    stranger = (await client.get("/v1/memories/profile", headers=auth_headers(user_id=uuid4()))).json()
    assert stranger == {"style": [], "facts": []}


async def test_a_reflection_waits_for_review_or_is_not_stored(client, streams, facts, principal, auth_headers):
    path = "/v1/memories/settings"
    await client.put(path, json={"writing": "off"}, headers=auth_headers())
    await streams.turn(principal.user_id, "Write a page.", [], reflections=[PLAIN])
    await streams.drained(TURNS)
    assert await facts() == {}
    await client.put(path, json={"writing": "review"}, headers=auth_headers())
    secret = Reflection(kind="fact", text="My password is hunter22")
    await streams.turn(principal.user_id, "Write a page.", [], reflections=[BRITISH, secret])
    await streams.drained(TURNS)
    [fact] = (await facts()).values()
    assert (fact["content"], fact["fact"]["approved"]) == ("Use British spelling.", False)
    profile = "/v1/memories/profile"
    assert (await client.get(profile, headers=auth_headers())).json()["style"] == []
    await client.post(f"/v1/memories/{fact['id']}/approve", headers=auth_headers())
    assert (await client.get(profile, headers=auth_headers())).json()["style"] == ["Use British spelling."]


async def test_a_task_is_not_mistaken_for_a_style_preference(streams, facts, principal):
    await streams.turn(principal.user_id, "Write a report about caching.", [])
    await streams.drained(TURNS)
    assert await facts() == {}
