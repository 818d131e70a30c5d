from gateway.proxy.headers import for_caller, for_service


def test_credentials_hop_by_hop_headers_and_forged_client_headers_are_not_forwarded():
    incoming = [
        (b"Authorization", b"Bearer atr_x"),
        (b"Connection", b"keep-alive, X-Secret-Hop"),
        (b"X-Secret-Hop", b"1"),
        (b"Transfer-Encoding", b"chunked"),
        (b"Cookie", b"a=b"),
        (b"Host", b"public"),
        (b"X-Workspace-Id", b"another"),
        (b"X-Forwarded-For", b"6.6.6.6"),
        (b"Forwarded", b"for=6.6.6.6"),
        (b"traceparent", b"old"),
        (b"Content-Type", b"text/plain"),
        (b"If-Match", b'"3"'),
        (b"Last-Event-ID", b"7-0"),
    ]
    own = {"Authorization": "Bearer internal", "X-Forwarded-For": "10.0.0.1", "traceparent": "new"}
    assert for_service(incoming, own) == [
        (b"content-type", b"text/plain"),
        (b"if-match", b'"3"'),
        (b"last-event-id", b"7-0"),
        (b"authorization", b"Bearer internal"),
        (b"x-forwarded-for", b"10.0.0.1"),
        (b"traceparent", b"new"),
    ]


def test_a_response_keeps_its_end_to_end_headers():
    answer = [
        (b"Server", b"uvicorn"),
        (b"Date", b"x"),
        (b"Keep-Alive", b"5"),
        (b"Set-Cookie", b"a=b"),
        (b"ETag", b'"1"'),
        (b"Allow", b"GET"),
    ]
    assert for_caller(answer, "http://ingestion:8000") == [(b"etag", b'"1"'), (b"allow", b"GET")]


def test_a_redirect_to_the_service_becomes_relative():
    def location(value: bytes) -> bytes:
        return for_caller([(b"location", value)], "http://ingestion:8000")[0][1]

    assert location(b"http://ingestion:8000/v1/documents?x=1") == b"/v1/documents?x=1"
    assert location(b"/v1/documents/7") == b"/v1/documents/7"
    assert location(b"https://elsewhere/x") == b"https://elsewhere/x"
