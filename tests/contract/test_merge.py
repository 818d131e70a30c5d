import json

from contract.merge import merge


def reference(name):
    return {"$ref": f"#/components/schemas/{name}"}


def document(path, schemas, returns, method="get", operation_id="read"):
    answer = {"description": "ok", "content": {"application/json": {"schema": reference(returns)}}}
    invalid = {"content": {"application/json": {"schema": reference("HTTPValidationError")}}, "description": "v"}
    operation = {"operationId": operation_id, "responses": {"200": answer, "422": invalid}, "tags": ["x"]}
    invented = {"HTTPValidationError": {"properties": {"detail": reference("ValidationError")}}, "ValidationError": {}}
    return {
        "openapi": "3.1.0",
        "paths": {path: {method: operation}, "/internal": {"get": {"responses": {}}}},
        "components": {"schemas": schemas | invented},
    }


def schema_of(merged, path):
    return merged["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]


def test_only_routes_forwarded_to_the_service_are_public():
    merged = merge(
        {
            "gateway": document("/v1/me", {"A": {}}, "A"),
            "retrieval": {
                "paths": {"/v1/search": {}, "/v1/documents": {}, "/v1/me": {}, "/search": {}, "/v1/hidden": {}}
            },
        }
    )
    assert sorted(merged["paths"]) == ["/v1/me", "/v1/search"]


def test_identical_components_are_merged():
    merged = merge(
        {
            "retrieval": document("/v1/search", {"Chunk": {"type": "string"}}, "Chunk"),
            "memory": document("/v1/memories", {"Chunk": {"type": "string"}}, "Chunk"),
        }
    )
    assert sorted(merged["components"]["schemas"]) == ["Chunk", "ProblemBody"]
    assert schema_of(merged, "/v1/search") == schema_of(merged, "/v1/memories") == reference("Chunk")


def test_conflicting_components_and_those_that_reference_them_are_prefixed_with_their_service():
    def schemas(kind):
        return {
            "Item": {"title": "Item", "type": kind},
            "Page": {"title": "Page", "properties": {"items": {"items": reference("Item")}}},
            "Same": {"type": "null"},
        }

    merged = merge(
        {
            "knowledge-graph": document("/v1/graph", schemas("object"), "Page"),
            "memory": document("/v1/memories", schemas("string"), "Page"),
        }
    )
    found = merged["components"]["schemas"]
    assert sorted(found) == [
        "KnowledgeGraphItem",
        "KnowledgeGraphPage",
        "MemoryItem",
        "MemoryPage",
        "ProblemBody",
        "Same",
    ]
    assert schema_of(merged, "/v1/graph") == reference("KnowledgeGraphPage")
    assert found["MemoryPage"]["properties"]["items"]["items"] == reference("MemoryItem")
    assert found["MemoryItem"] == {"title": "MemoryItem", "type": "string"}


def test_a_discriminator_follows_the_renamed_component():
    def schemas(kind):
        mapping = {"a": "#/components/schemas/A"}
        return {"A": {"type": kind}, "Union": {"oneOf": [reference("A")], "discriminator": {"mapping": mapping}}}

    merged = merge(
        {
            "memory": document("/v1/memories", schemas("object"), "Union"),
            "retrieval": document("/v1/search", schemas("string"), "Union"),
        }
    )
    union = merged["components"]["schemas"]["RetrievalUnion"]
    assert union["discriminator"]["mapping"] == {"a": "#/components/schemas/RetrievalA"}


def test_every_operation_has_a_unique_id_a_tag_security_and_problems():
    merged = merge(
        {
            "gateway": document("/v1/me", {"A": {}}, "A"),
            "memory": document("/v1/memories", {"A": {}}, "A"),
            "retrieval": document("/v1/search", {"A": {}}, "A"),
        }
    )
    operations = [merged["paths"][path]["get"] for path in ("/v1/me", "/v1/memories", "/v1/search")]
    assert [operation["operationId"] for operation in operations] == ["read", "memory_read", "retrieval_read"]
    assert [operation["tags"] for operation in operations] == [["gateway"], ["memory"], ["retrieval"]]
    assert all(operation["security"] == [{"bearer": []}, {"web_session": []}] for operation in operations)
    assert {"401", "429", "502", "504"} <= set(operations[1]["responses"])
    assert "502" not in operations[0]["responses"]
    assert "HTTPValidationError" not in json.dumps(merged)
    assert set(merged["components"]["securitySchemes"]) == {"bearer", "web_session"}


def test_the_input_is_not_modified():
    given = {"memory": document("/v1/memories", {"A": {}}, "A")}
    before = json.dumps(given)
    assert merge(given, "1.2.3")["info"]["version"] == "1.2.3"
    assert json.dumps(given) == before


def test_problems_are_one_component_with_their_own_media_type():
    def with_problem(path, description):
        given = document(path, {"A": {}, "ProblemBody": {"description": description}}, "A")
        content = {"application/json": {"schema": reference("ProblemBody")}}
        given["paths"][path]["get"]["responses"]["404"] = {"description": "none", "content": content}
        return given

    services = {"memory": with_problem("/v1/memories", "x"), "retrieval": with_problem("/v1/search", "y")}
    merged = merge(services)
    assert sorted(merged["components"]["schemas"]) == ["A", "ProblemBody"]
    content = merged["paths"]["/v1/search"]["get"]["responses"]["404"]["content"]
    assert content == {"application/problem+json": {"schema": reference("ProblemBody")}}


def test_openai_routes_describe_errors_in_the_openai_format():
    merged = merge({"orchestrator": document("/v1/models", {"A": {}}, "A")})
    responses = merged["paths"]["/v1/models"]["get"]["responses"]
    assert "422" not in responses
    for status in ("400", "401", "429", "502"):
        assert responses[status]["content"] == {"application/json": {"schema": reference("OpenAIError")}}
    assert sorted(merged["components"]["schemas"]) == ["A", "OpenAIError", "OpenAIErrorBody", "ProblemBody"]
