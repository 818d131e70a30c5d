"""attractor search, context and search-settings."""

from __future__ import annotations

import json as jsonlib
import re
from typing import Any
from uuid import UUID

import pytest

ONE, TWO = str(UUID(int=1)), str(UUID(int=2))
NOW = "2026-03-01T10:00:00Z"


def found(*hits: dict[str, Any], **changes: Any) -> dict[str, Any]:
    base = {"query": "q", "mode": "hybrid", "hits": hits, "good_match": True, "match": 0.9, "legs": []}
    return {**base, "milliseconds": 4.2, **changes}


def sent(server: Any, place: str = "/v1/search") -> dict[str, Any]:
    body: dict[str, Any] = jsonlib.loads(server.calls("POST", place)[-1].body)
    return body


class TestSearchOptions:
    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ((), {"k": 5, "scope": "workspace", "use_graph": True, "rerank": True, "fold_duplicates": True}),
            (("--mode", "convex", "--strict"), {"mode": "convex", "strict": True}),
            (("--session", ONE), {"scope": "session", "session_id": ONE}),
            (("--scope", "global"), {"scope": "global"}),
            (("--document", ONE, "-d", TWO), {"document_ids": [ONE, TWO]}),
            (("--source", ONE, "--source-type", "git"), {"source_ids": [ONE], "source_types": ["git"]}),
            (
                ("--tag", "a", "--tag", "b", "--type", "pdf", "--type", "text/html", "--language", "de"),
                {"tags": ["a", "b"], "media_types": ["application/pdf", "text/html"], "languages": ["de"]},
            ),
            (
                ("--after", "2026-01-02T03:04:05+0000", "--before", "2026-02-01T00:00:00Z"),
                {"written_from": "2026-01-02T03:04:05Z", "written_to": "2026-02-01T00:00:00Z"},
            ),
            (("--metadata", '$.authors[*] ? (@ == "Ada")'), {"metadata": ['$.authors[*] ? (@ == "Ada")']}),
            (("--query", "second", "--query", "third"), {"queries": ["second", "third"]}),
            (("--around", "section", "--facet", "tag", "--facet", "source"), {"around": "section"}),
            (("--no-graph", "--no-rerank", "--keep-duplicates"), {"use_graph": False, "rerank": False}),
            (("--per-document", "2"), {"max_per_document": 2}),
        ],
    )
    def test_options_become_request_fields(
        self, settled: Any, attractor: Any, options: tuple[str, ...], expected: Any
    ) -> None:
        settled.on("POST", "/v1/search", found())
        ran = attractor("search", "q", *options)
        assert ran.code == 0, ran.err
        assert sent(settled).items() >= expected.items()

    def test_a_date_is_in_the_local_time_zone(self, settled: Any, attractor: Any, monkeypatch: Any) -> None:
        monkeypatch.setenv("TZ", "UTC")
        settled.on("POST", "/v1/search", found())
        attractor("search", "q", "--after", "2026-01-02")
        assert sent(settled)["written_from"].startswith("2026-01-0")

    @pytest.mark.parametrize(
        "options",
        [
            ("--after", "yesterday"),
            ("--mode", "best"),
            ("--scope", "planet"),
            ("--query", ""),
            ("--source-type", "fax"),
        ],
    )
    def test_wrong_usage(self, settled: Any, attractor: Any, options: tuple[str, ...]) -> None:
        ran = attractor("search", "q", *options)
        assert (ran.code, ran.out, settled.calls("POST", "/v1/search")) == (2, "", [])
        assert "Traceback" not in ran.err

    def test_json_output_is_the_server_response(self, settled: Any, attractor: Any, samples: Any) -> None:
        settled.on("POST", "/v1/search", found(samples.hit()))
        assert attractor("search", "q", "--json").json["hits"][0]["chunk_id"] == "c1"
        assert (sent(settled)["explain"], sent(settled)["highlight"]) == (False, False)
        attractor("--json", "search", "q", "--explain")
        assert (sent(settled)["explain"], sent(settled)["highlight"]) == (True, False)


class TestSearchOutput:
    def explained(self, samples: Any) -> dict[str, Any]:
        why = {
            "legs": {"lexical": {"rank": 1, "score": 12.3}, "dense": {"rank": None, "score": 0.61},
                     "graph": {"rank": None, "score": None}},
            "features": {"cosine": 0.61, "bm25_share": 0.5, "phrases": 0.0},
            "weights": {"cosine": 1.0, "bm25_share": 0.3},
            "matched_terms": ["token", "live"],
            "fused_score": 0.76,
            "fused_rank": 2,
        }  # fmt: skip
        copies = [{"chunk_id": f"c{n}", "document_id": TWO, "document_name": "copy.md"} for n in (2, 3)]
        understood = {"text": "tokan", "terms": ["tokan"], "phrases": ["refresh token"], "prefixes": ["auth"]}
        understood |= {"excluded": ["test"], "fields": {"tag": ["a"]}, "corrected": {"tokan": ["token", "tokens"]}}
        leg = {"leg": "dense", "candidates": 3, "milliseconds": 1.25, "method": "exact: 3 chunks", "error": None}
        return found(
            samples.hit(explanation=why, duplicates=copies, graph_path=["AuthService", "UserDB"]),
            legs=[leg],
            understood=understood,
            timings={"legs": 2.5, "ranking": 0.4},
            reranked_by="rerank-3",
            cached=True,
            facets={"tag": [{"value": "auth", "chunks": 3, "documents": 2}]},
        )

    def test_explain_shows_how_each_hit_scored(self, settled: Any, attractor: Any, samples: Any) -> None:
        settled.on("POST", "/v1/search", self.explained(samples))
        ran = attractor("search", "tokan", "--explain", "--facet", "tag")
        assert ran.out == (
            "1. note-1.md, A > B  0.500\n"
            "   A passage.\n"
            "   near-duplicates in copy.md\n"
            "   legs  lexical #1 (12.300)   dense - (0.610)   graph -\n"
            "   score cosine 0.610 × 1 + bm25_share 0.500 × 0.3 = 0.760, rank 2\n"
            "   words token, live\n"
            "   path  AuthService > UserDB\n"
            "\n"
            "tag   chunks  documents\n"
            "auth  3       2\n"
            "\n"
            "How the query was parsed\n"
            "words     tokan\n"
            "phrases   “refresh token”\n"
            "prefixes  auth*\n"
            "excluded  test\n"
            "tag:      a\n"
            "tokan     corrected to token or tokens\n"
            "\n"
            "leg    candidates  ms   method           error\n"
            "dense  3           1.2  exact: 3 chunks\n"
            "\n"
            "hybrid; 4.2 ms in all (legs 2.5, ranking 0.4); probability that it answers: 0.90;"
            " ordered by rerank-3; from the cache\n"
        )
        assert ran.err == "searched for token or tokens instead of tokan, which occurs in no document\n"

    def test_without_explain_only_warnings_are_shown(self, settled: Any, attractor: Any, samples: Any) -> None:
        settled.on("POST", "/v1/search", self.explained(samples))
        ran = attractor("search", "tokan")
        assert "lexical" not in ran.out
        assert "instead of tokan" in ran.err

    def test_the_text_around_a_passage_is_shown_in_full(self, settled: Any, attractor: Any, samples: Any) -> None:
        around = {"content": "Before. " * 100 + "A passage.\nAfter.", "chunk_index_from": 0, "chunk_index_to": 2}
        around |= {"page": None, "page_end": None, "chunk_ids": ["c0", "c1", "c2"]}
        settled.on("POST", "/v1/search", found(samples.hit(around=around)))
        out = attractor("search", "q", "--around", "section").out
        assert out.count("Before.") == 100
        assert "   After." in out


class TestContext:
    def packet(self, **changes: Any) -> dict[str, Any]:
        quote = {"text": "Thirty days.", "start": 0, "end": 12, "score": 0.9}
        place = {"page": 3, "page_end": 3, "box": None, "line_start": None, "line_end": None, "section": "Tokens"}
        ids = {"chunk_id": "c1", "chunk_ids": ["c1"], "workspace_id": TWO, "document_id": ONE, "document_title": None}
        one = {"number": 1, **ids, **place, "document_name": "a.pdf", "content": "Thirty days.", "tokens": 4}
        evidence = [one | {"score": 0.8, "quotes": [quote]}]
        base = {"text": "[1] a.pdf\nThirty days.", "tokens": 9, "max_tokens": 64, "tokenizer": "words"}
        rest = {"good_match": True, "match": 0.9, "cut": ["[2] did not fit"], "legs": []}
        return {**base, "evidence": evidence, **rest, **changes}

    def test_the_context_goes_to_stdout_and_its_sources_to_stderr(self, settled: Any, attractor: Any) -> None:
        settled.on("POST", "/v1/context", self.packet())
        ran = attractor("context", "how long?", "and why?", "--max-tokens", "64", "--tag", "auth", "--no-graph")
        assert ran.out == "[1] a.pdf\nThirty days.\n"
        assert ran.err == (
            "[1] a.pdf, Tokens, page 3  4 tokens, score 0.800\n9 of 64 tokens, counted by words\ncut: [2] did not fit\n"
        )
        asked = {"queries": ["how long?", "and why?"], "max_tokens": 64, "tags": ["auth"], "use_graph": False}
        assert sent(settled, "/v1/context").items() >= asked.items()
        assert attractor("context", "how long?", "--json").json["tokens"] == 9

    def test_an_empty_context_is_reported(self, settled: Any, attractor: Any) -> None:
        leg = {"leg": "graph", "candidates": 0, "milliseconds": 1, "error": "timeout"}
        empty = self.packet(text="", tokens=0, evidence=[], good_match=False, cut=[], legs=[leg])
        settled.on("POST", "/v1/context", empty)
        ran = attractor("context", "how long?")
        assert (ran.code, "nothing found" in ran.err, "graph search skipped: timeout" in ran.err) == (
            0,
            True,
            True,
        )

    def test_wrong_usage(self, settled: Any, attractor: Any) -> None:
        for arguments in ((), ("q", "-t", "10"), ("",), ("q",) * 9):
            assert attractor("context", *arguments).code == 2
        assert settled.calls("POST", "/v1/context") == []


class TestSearchSettings:
    def settings(self, **changes: Any) -> dict[str, Any]:
        base = {
            "mode": "hybrid",
            "k1": 1.2,
            "b": 0.75,
            "rrf_k": 60,
            "weights": {"cosine": 1.0},
            "version": 7,
            "diversity": 0.0,
        }
        legs = {"lexical": 1.0, "dense": 1.0, "graph": 0.5}
        return {**base, "legs": legs, "embedding_space": "minilm-384", **changes}

    @pytest.fixture
    def kept(self, settled: Any) -> Any:
        settled.on("GET", "/v1/search-settings", self.settings())
        settled.on("PATCH", "/v1/search-settings", self.settings(mode="rrf", version=8))
        return settled

    def body(self, kept: Any) -> dict[str, Any]:
        call = kept.calls("PATCH", "/v1/search-settings")[-1]
        assert call.headers["if-match"] == '"7"'
        body: dict[str, Any] = jsonlib.loads(call.body)
        return body

    def test_settings_are_shown(self, kept: Any, attractor: Any) -> None:  # noqa: ARG002
        out = attractor("search-settings", "show").out
        assert re.search("legs +lexical=1, dense=1, graph=0.5\n", out)
        assert attractor("search-settings", "show", "--json").json["rrf_k"] == 60

    def test_set_changes_only_the_given_fields(self, kept: Any, attractor: Any) -> None:
        ran = attractor("search-settings", "set", "--mode", "rrf", "--leg", "graph=0.2", "--weight", "cosine=2")
        assert re.search("mode +rrf", ran.out)
        assert self.body(kept) == {
            "mode": "rrf",
            "legs": {"graph": 0.2},
            "weights": {"cosine": 2.0},
            "reset": [],
        }

    def test_reset_restores_the_defaults(self, kept: Any, attractor: Any) -> None:
        assert attractor("search-settings", "reset", "weights", "mode").code == 0
        assert self.body(kept) == {"reset": ["weights", "mode"]}
        attractor("search-settings", "reset")
        assert self.body(kept)["reset"] == ["mode", "k1", "b", "rrf_k", "legs", "weights", "diversity"]

    def test_diversity_can_be_set(self, kept: Any, attractor: Any) -> None:
        assert re.search("diversity +0", attractor("search-settings", "set", "--diversity", "0.3").out)
        assert self.body(kept) == {"diversity": 0.3, "reset": []}

    def test_a_concurrent_change_is_reported(self, kept: Any, attractor: Any, problem: Any) -> None:
        kept.on("PATCH", "/v1/search-settings", problem(412, "version-mismatch", "It has changed"))
        assert attractor("search-settings", "reset").code == 1

    @pytest.mark.parametrize(
        "options",
        [
            (),
            ("--leg", "x=1"),
            ("--leg", "graph=x"),
            ("--k1", "11"),
            ("--weight", "cosine"),
            ("--weight", "nothing=1"),
            ("--weight", "cosine=11"),
            ("--diversity", "2"),
        ],
    )
    def test_wrong_usage(self, kept: Any, attractor: Any, options: tuple[str, ...]) -> None:
        assert attractor("search-settings", "set", *options).code == 2
        assert kept.calls("PATCH", "/v1/search-settings") == []
