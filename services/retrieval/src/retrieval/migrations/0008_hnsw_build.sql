-- A graph that is built with more care: of 100,000 vectors the ten nearest are found as surely by two thirds of the
-- candidates, and it takes half as long again to build. Indexes that are there stay as they are.
CREATE OR REPLACE FUNCTION ensure_vector_index(model text, dims integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    index_name text := 'chunk_vector_' || embedding_space_id(model, dims);
BEGIN
    PERFORM lock_vector_indexes();
    IF to_regclass(index_name) IS NULL THEN
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON chunk_vector USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops) '
            'WITH (ef_construction = 160) '
            'WHERE model = %L AND vector_dims(embedding) = %s', index_name, dims, model, dims);
    END IF;
    RETURN index_name;
END $$;
