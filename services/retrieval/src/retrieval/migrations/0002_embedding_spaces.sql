-- Several embedding spaces side by side, what filters need, and what lets a new version keep what it shares with the old.

ALTER TABLE indexed_document
    ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
    ADD COLUMN language text,
    ADD COLUMN source_type text;

-- A row names its model and its dimensions. The space leads the key: its vectors are read, filled and dropped together.
ALTER TABLE chunk_vector
    ADD COLUMN dims integer NOT NULL GENERATED ALWAYS AS (vector_dims(embedding)) STORED,
    DROP CONSTRAINT chunk_vector_pkey,
    ADD PRIMARY KEY (workspace_id, model, dims, chunk);

-- One row per workspace and space that has been asked for; a space without one is available at most.
-- `incomplete`: of the active one, chunks lack vectors. `rate` is in vectors a second. Whoever holds the lease works.
CREATE TABLE embedding_space (
    workspace_id uuid NOT NULL,
    id text NOT NULL,
    model text NOT NULL,
    dims integer NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'building', 'failed', 'ready', 'dropping')),
    activate boolean NOT NULL DEFAULT false,
    incomplete boolean NOT NULL DEFAULT false,
    rate double precision,
    attempts integer NOT NULL DEFAULT 0,
    error_class text,
    error_message text,
    next_attempt_at timestamptz,
    lease_owner uuid,
    lease_until timestamptz,
    worked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    activated_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX embedding_space_active ON embedding_space (workspace_id) WHERE status = 'active';
CREATE INDEX embedding_space_work ON embedding_space (worked_at NULLS FIRST)
    WHERE status IN ('building', 'failed', 'dropping') OR incomplete;
SELECT protect_queue('embedding_space');

CREATE FUNCTION notify_embedding_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_embedding_space', '');
    RETURN NULL;
END $$;
CREATE TRIGGER embedding_space_added AFTER INSERT ON embedding_space
    FOR EACH ROW EXECUTE FUNCTION notify_embedding_space();
CREATE TRIGGER embedding_space_changed AFTER UPDATE ON embedding_space
    FOR EACH ROW WHEN (old.status <> new.status OR (new.incomplete AND NOT old.incomplete))
    EXECUTE FUNCTION notify_embedding_space();

CREATE FUNCTION embedding_space_id(model text, dims integer) RETURNS text LANGUAGE sql IMMUTABLE
AS $$ SELECT left(md5(model || '/' || dims), 16) $$;

-- What there is was searched in the space that most of it has vectors of; what it lacks is filled.
INSERT INTO embedding_space (workspace_id, id, model, dims, status, incomplete, activated_at)
SELECT DISTINCT ON (workspace_id) workspace_id, embedding_space_id(model, dims), model, dims, 'active', true, now()
FROM chunk_vector
GROUP BY workspace_id, model, dims
ORDER BY workspace_id, count(*) DESC, model, dims;
DELETE FROM chunk_vector WHERE NOT EXISTS (
    SELECT FROM embedding_space
    WHERE embedding_space.workspace_id = chunk_vector.workspace_id
      AND embedding_space.model = chunk_vector.model AND embedding_space.dims = chunk_vector.dims);

-- Creation and removal exclude each other, so that a space which has a row keeps its index.
CREATE FUNCTION lock_vector_indexes() RETURNS void LANGUAGE sql SET search_path FROM CURRENT
AS $$ SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/vector_indexes', 0)) $$;

CREATE OR REPLACE FUNCTION ensure_vector_index(model text, dims integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    index_name text := 'chunk_vector_' || embedding_space_id(model, dims);
BEGIN
    PERFORM lock_vector_indexes();
    IF to_regclass(index_name) IS NULL THEN
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON chunk_vector USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) '
            'WHERE model = %L AND vector_dims(embedding) = %s', index_name, dims, model, dims);
    END IF;
    RETURN index_name;
END $$;

-- Drops the approximate indexes of spaces that no workspace has, but for the one to keep; their names.
CREATE FUNCTION drop_unused_vector_indexes(kept_model text, kept_dims integer) RETURNS text[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    unused text[];
    index_name text;
BEGIN
    PERFORM lock_vector_indexes();
    SELECT coalesce(array_agg(index_class.relname::text), '{}') INTO unused
    FROM pg_index
    JOIN pg_class AS index_class ON index_class.oid = indexrelid
    JOIN pg_am ON pg_am.oid = index_class.relam
    WHERE indrelid = 'chunk_vector'::regclass AND amname = 'hnsw'
      AND index_class.relname <> 'chunk_vector_' || embedding_space_id(kept_model, kept_dims)
      AND NOT EXISTS (SELECT FROM embedding_space WHERE 'chunk_vector_' || id = index_class.relname);
    FOREACH index_name IN ARRAY unused LOOP
        EXECUTE format('DROP INDEX %I', index_name);
    END LOOP;
    RETURN unused;
END $$;
