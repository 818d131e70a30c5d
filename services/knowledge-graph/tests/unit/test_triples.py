"""Triples in three formats: what is read, and what is refused at which line."""

from __future__ import annotations

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge_graph.export.formats import Turtle
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.graph_store import StoredEntity, StoredRelation
from knowledge_graph.triples.graphing import graphed
from knowledge_graph.triples.records import ReadTriples, Triple, TriplesNotValid
from knowledge_graph.triples.tables import from_csv, from_jsonl
from knowledge_graph.triples.turtle import from_turtle

IMPORT = UUID(int=7)


def errors(read, text: str) -> list[tuple[int, str]]:
    with pytest.raises(TriplesNotValid) as refused:
        read(text)
    return [(one["line"], one["message"]) for one in refused.value.extra["errors"]]


class TestCsv:
    def test_columns_may_have_any_order_and_alternative_names(self):
        read = from_csv(
            "confidence;target;relation;source;source_type\n"
            '0.5;"User; DB";depends on;Auth Service;service\n\n;LedgerDB;uses;Auth Service;\n'
        )
        assert read.triples == [
            Triple("Auth Service", "depends on", "User; DB", 2, "SERVICE", None, 0.5),
            Triple("Auth Service", "uses", "LedgerDB", 4),
        ]

    def test_every_invalid_line_is_reported(self):
        wrong = errors(
            from_csv,
            "subject,predicate,object,confidence\nA1,uses,B1,1\n,uses,B1\nA1,,B1\nA1,uses\nA1,uses,B1,2\nA1,uses,💥\n"
            f"A1,uses,{'x' * 200}\nA1,uses,B\x00\n",
        )
        assert wrong == [
            (3, "the subject is empty"),
            (4, "the predicate is empty"),
            (5, "2 columns, fewer than the header promises"),
            (6, "the confidence is no number from 0 to 1"),
            (7, "the object has no letter and no digit"),
            (8, "the object has 200 characters, more than 120"),
            (9, "must not contain the NUL character"),
        ]

    def test_a_header_is_required(self):
        assert errors(from_csv, "AuthService,uses,UserDB\n")[0][0] == 1
        assert errors(from_csv, "")[0][0] == 1
        assert errors(from_csv, 'subject,predicate,object\nA1,uses,"B1\nC1,uses,D1\n')[-1][1].startswith(
            "this is no CSV"
        )

    def test_parsing_stops_after_twenty_errors(self):
        assert len(errors(from_csv, "subject,predicate,object\n" + ",,\nA,,\n" * 50)) == 20


class TestJsonLines:
    def test_each_line_is_a_triple(self):
        line = {"subject": "A1", "predicate": "uses", "object": "B1", "object_type": "data base", "confidence": 0.25}
        read = from_jsonl(f"{json.dumps(line)}\n\n" + json.dumps({"subject": "A1", "predicate": "x", "object": "C1"}))
        assert read.triples == [
            Triple("A1", "uses", "B1", 1, None, "DATA_BASE", 0.25),
            Triple("A1", "x", "C1", 3),
        ]

    @pytest.mark.parametrize(
        "line",
        [
            "{",
            "[]",
            "null",
            "[" * 100_000,
            '{"subject": "A1", "predicate": "uses"}',
            '{"subject": "A1", "predicate": "uses", "object": 5}',
            '{"subject": "A1", "predicate": "uses", "object": "B1", "weight": 5}',
            '{"subject": "A1", "predicate": "uses", "object": "B1", "confidence": true}',
            '{"subject": "A1", "predicate": "uses", "object": "B1", "confidence": NaN}',
            '{"subject": "A1", "predicate": "uses", "object": "B1", "subject_type": []}',
            '{"subject": "\\ud800", "predicate": "uses", "object": "B1"}',
        ],
    )
    def test_an_invalid_line_is_reported(self, line):
        assert [number for number, _ in errors(from_jsonl, f"\n{line}")] == [2]


TURTLE = """
@prefix ex: <http://example.org/services#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .

ex:auth a ex:Service ; rdfs:label "Auth Service" ; skos:altLabel "AS" ; rdfs:comment "long text" ;
  ex:dependsOn ex:UserDB , <http://example.org/Ledger%20DB/> ; ex:since 2019 ; ex:ownedBy "Team Red" ; ex:x [] .
"""


class TestTurtle:
    def test_labels_addresses_and_types_are_read_and_skipped_statements_are_counted(self):
        read = from_turtle(TURTLE)
        assert {(one.subject, one.predicate, one.object) for one in read.triples} == {
            ("Auth Service", "dependsOn", "UserDB"),
            ("Auth Service", "dependsOn", "Ledger DB"),
            ("Auth Service", "ownedBy", "Team Red"),
            ("Auth Service", "altLabel", "AS"),
        }
        assert [(one.name, one.entity_type) for one in read.types] == [("Auth Service", "SERVICE")]
        assert read.notes == [
            "1 triples with a blank node were left out",
            "1 triples whose object is a number, a date or a long text were left out",
        ]

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("@prefix e: <urn:e:> .\n\ne:a e:b ; ;\n e:c e:d", 3),
            ("\ne:a e:b e:c .", 2),
            ("@prefix e: <urn:e:> .\n{ e:a e:b e:c } .", 2),
            ("[" * 5_000, 1),
            ("<a> <b> (" + "(" * 5_000, 1),
            ("\x01", 1),
        ],
    )
    def test_invalid_turtle_is_refused_with_its_line(self, text, line):
        assert errors(from_turtle, text)[0][0] == line

    def test_an_export_can_be_imported(self):
        names = ['Auth "Service"\n', "User\\DB", "Ünïcode → 数据库", "x" * 100]
        form = Turtle()
        entities = [
            StoredEntity(
                entity_id(name_key(name)), name_key(name), name, "SERVICE", 1, 1, ["AS"] if number == 0 else []
            )
            for number, name in enumerate(names)
        ]
        relations = [
            StoredRelation(entities[0].id, one.id, kind, 2.0, 1)
            for one, kind in zip(entities[1:], ("DEPENDS_ON", "ÜBT_AUS", "USES"), strict=True)
        ]
        text = form.head + "".join(map(form.entity, entities)) + "".join(map(form.relation, relations)) + form.foot
        made = graphed(IMPORT, from_turtle(text))
        assert {(one.source_id, one.target_id, one.relation_type) for one in made.relations} == {
            (one.source_id, one.target_id, one.relation_type) for one in relations
        }
        assert {one.entity_id for one in made.mentions} == {one.id for one in entities}
        assert {one.entity_type for one in made.mentions} == {"SERVICE"}
        assert [(one.alias, one.target) for one in made.aliases] == [("AS", 'Auth "Service"')]

    @given(st.text(max_size=80))
    def test_any_text_is_parsed_without_an_error(self, text):
        for document in (text, f'<http://x/a> <http://x/b> "{text}" .'):
            try:
                read = from_turtle(document)
            except TriplesNotValid:
                continue
            graphed(IMPORT, read)


class TestGraphing:
    def test_relations_types_aliases_and_notes_are_graphed(self):
        made = graphed(
            IMPORT,
            ReadTriples(
                [
                    Triple("AuthService", "dependsOn", "User DB", 2, confidence=0.5),
                    Triple("auth_service", "depends on", "UserDB", 3),
                    Triple("AuthService", "uses", "Auth Service", 4),
                    Triple("SSO", "alias of", "Single Sign-On", 5),
                    Triple("Single Sign-On", "also known as", "Einmalanmeldung", 6),
                    Triple("User DB", "type", "data base", 7),
                ]
            ),
        )
        [one] = made.relations
        assert (one.relation_type, one.method, one.phrase, one.confidence) == ("DEPENDS_ON", "user", "dependsOn", 0.5)
        assert one.source_id == entity_id("authservice")
        assert {(one.alias, one.target, one.method) for one in made.aliases} == {
            ("SSO", "Single Sign-On", "user"),
            ("Einmalanmeldung", "Single Sign-On", "user"),
        }
        types = {one.entity_id: one.entity_type for one in made.mentions}
        assert types[entity_id("userdb")] == "DATA_BASE"
        assert types[entity_id("authservice")] == "ENTITY"
        assert {one.origin for one in made.mentions} == {"user"}
        assert made.method == "user"
        assert made.notes == [
            "1 triples say again what another one says",
            "1 triples relate a name with itself, in another spelling or the same, and were left out",
        ]

    def test_a_long_type_is_truncated(self):
        made = graphed(IMPORT, ReadTriples([Triple("A1", "type", "x" * 120)]))
        assert [len(one.entity_type) for one in made.mentions] == [50]
