SELECT
    nextval('document_number') AS document,
    ARRAY(SELECT nextval('chunk_number') FROM generate_series(1, %(chunks)s)) AS chunks
