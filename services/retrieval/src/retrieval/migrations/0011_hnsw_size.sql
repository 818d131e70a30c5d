-- A graph with fewer neighbours: nine tenths of the bytes (8 vectors a page instead of 7), and as many of the nearest are
-- found as fast with 220 candidates as with 16 neighbours and 160. Indexes that are there stay as they are.
CREATE OR REPLACE FUNCTION ensure_vector_index(model text, dims integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    index_name text := 'chunk_vector_' || embedding_space_id(model, dims);
BEGIN
    PERFORM lock_vector_indexes();
    IF to_regclass(index_name) IS NULL THEN
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON chunk_vector USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) '
            'WITH (m = 12, ef_construction = 160) '
            'WHERE model = %L AND vector_dims(embedding) = %s', index_name, dims, model, dims);
    END IF;
    RETURN index_name;
END $$;
