-- A vector of a document as a whole, beside those of its chunks, for workspaces that want them (search_settings). It is of
-- the summary that came with the document, else of its title, headings and beginning.
CREATE TABLE document_vector (
    workspace_id uuid NOT NULL,
    document bigint NOT NULL,
    model text NOT NULL,
    dims integer NOT NULL GENERATED ALWAYS AS (vector_dims(embedding)) STORED,
    embedding halfvec NOT NULL,
    PRIMARY KEY (workspace_id, document, model, dims),
    FOREIGN KEY (workspace_id, document) REFERENCES indexed_document (workspace_id, number) ON DELETE CASCADE
);
ALTER TABLE document_vector ALTER COLUMN embedding SET STORAGE MAIN;
SELECT protect('document_vector');

ALTER TABLE search_settings ADD COLUMN document_vectors boolean;

-- Whether a workspace's documents are to have vectors of their own.
CREATE FUNCTION wants_document_vectors(workspace uuid) RETURNS boolean LANGUAGE sql STABLE
AS $$ SELECT coalesce((SELECT document_vectors FROM search_settings WHERE workspace_id = workspace), false) $$;

-- The approximate index of an embedding space's documents, as ensure_vector_index makes that of its chunks.
CREATE FUNCTION ensure_document_vector_index(model text, dims integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    index_name text := 'document_vector_' || embedding_space_id(model, dims);
BEGIN
    PERFORM lock_vector_indexes();
    IF to_regclass(index_name) IS NULL THEN
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON document_vector USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) '
            'WITH (m = 12, ef_construction = 160) '
            'WHERE model = %L AND vector_dims(embedding) = %s', index_name, dims, model, dims);
    END IF;
    RETURN index_name;
END $$;

CREATE OR REPLACE FUNCTION drop_unused_vector_indexes(kept_model text, kept_dims integer) RETURNS text[]
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
    WHERE indrelid IN ('chunk_vector'::regclass, 'document_vector'::regclass) AND amname = 'hnsw'
      AND index_class.relname <> 'chunk_vector_' || embedding_space_id(kept_model, kept_dims)
      AND NOT EXISTS (SELECT FROM embedding_space
                      WHERE index_class.relname IN ('chunk_vector_' || id, 'document_vector_' || id));
    FOREACH index_name IN ARRAY unused LOOP
        EXECUTE format('DROP INDEX %I', index_name);
    END LOOP;
    RETURN unused;
END $$;
