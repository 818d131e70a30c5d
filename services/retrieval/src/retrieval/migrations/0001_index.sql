-- The chunk index. Documents and chunks have small numbers of their own, which keep postings narrow.

CREATE SEQUENCE document_number;
CREATE SEQUENCE chunk_number;

CREATE TABLE indexed_document (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    number bigint NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    title text,
    title_terms text[] NOT NULL,
    media_type text NOT NULL,
    chunk_count integer NOT NULL,
    term_count bigint NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
SELECT protect('indexed_document');

-- A deleted document stays deleted, whatever arrives about it later.
CREATE TABLE tombstone (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, document_id)
);
SELECT protect('tombstone');

CREATE TABLE chunk (
    workspace_id uuid NOT NULL,
    number bigint NOT NULL,
    document bigint NOT NULL,
    document_id uuid NOT NULL,
    chunk_id text NOT NULL,
    chunk_index integer NOT NULL,
    section_title text,
    heading_path text[] NOT NULL,
    content text NOT NULL,
    page integer,
    page_end integer,
    box float8[],
    line_start integer,
    line_end integer,
    PRIMARY KEY (workspace_id, number)
);
CREATE INDEX chunk_document ON chunk (workspace_id, document);
SELECT protect('chunk');

-- One row per term and chunk. `length` repeats the chunk's number of terms, so that BM25 reads the index alone.
CREATE TABLE posting (
    workspace_id uuid NOT NULL,
    term text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    document bigint NOT NULL,
    frequency integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (workspace_id, term, chunk) INCLUDE (document, frequency, length)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 50000);
CREATE INDEX posting_document ON posting (workspace_id, document);
SELECT protect('posting');

-- No dimensions in the type: vectors of several embedding spaces lie side by side and are never compared.
CREATE TABLE chunk_vector (
    workspace_id uuid NOT NULL,
    chunk bigint NOT NULL,
    document bigint NOT NULL,
    model text NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (workspace_id, chunk)
);
ALTER TABLE chunk_vector ALTER COLUMN embedding SET STORAGE MAIN;
CREATE INDEX chunk_vector_document ON chunk_vector (workspace_id, document);
SELECT protect('chunk_vector');

-- What BM25 needs to know of the whole workspace; changed in the transaction that changes the postings.
CREATE TABLE workspace_statistics (
    workspace_id uuid PRIMARY KEY,
    chunks bigint NOT NULL,
    terms bigint NOT NULL
);
SELECT protect('workspace_statistics');

-- The approximate index of one embedding space. The service may call this without owning the table; it is safe to race.
CREATE FUNCTION ensure_vector_index(model text, dims integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    index_name text := 'chunk_vector_' || left(md5(model || '/' || dims), 16);
BEGIN
    IF to_regclass(index_name) IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended(index_name, 0));
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON chunk_vector USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) '
            'WHERE model = %L AND vector_dims(embedding) = %s', index_name, dims, model, dims);
    END IF;
    RETURN index_name;
END $$;
