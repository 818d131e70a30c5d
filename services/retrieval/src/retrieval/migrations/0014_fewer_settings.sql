-- Vectors of whole documents, saved searches and refitted weights are gone. Hits' diversity is a setting of the workspace.
DROP TABLE saved_search;
DROP TABLE document_vector;
DROP FUNCTION ensure_document_vector_index(text, integer);
DROP FUNCTION wants_document_vectors(uuid);

UPDATE space_weights SET weights = weights - 'document';
ALTER TABLE space_weights DROP COLUMN fitted_on;
ALTER TABLE search_settings DROP COLUMN document_vectors, ADD COLUMN diversity double precision;

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
    WHERE indrelid = 'chunk_vector'::regclass AND amname = 'hnsw'
      AND index_class.relname <> 'chunk_vector_' || embedding_space_id(kept_model, kept_dims)
      AND NOT EXISTS (SELECT FROM embedding_space WHERE 'chunk_vector_' || id = index_class.relname);
    FOREACH index_name IN ARRAY unused LOOP
        EXECUTE format('DROP INDEX %I', index_name);
    END LOOP;
    RETURN unused;
END $$;
