-- Words that look alike, for those that no document has. Numbers, identifiers and short words are not looked for in it.
CREATE INDEX posting_block_similar ON posting_block USING gin (term gin_trgm_ops)
    WHERE length(term) BETWEEN 6 AND 32 AND term !~ '[0-9._-]';

-- Row-level security keeps an operator that might leak what it reads from using an index. The owner of this function is
-- not under it, so that the function itself keeps to the transaction's workspace.
CREATE FUNCTION similar_terms(wanted text, most integer) RETURNS TABLE (term text, frequency bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET pg_trgm.similarity_threshold = 0.3 AS $$
    SELECT found.term, sum(found.postings)::bigint
    FROM posting_block AS found
    WHERE found.workspace_id = current_workspace() AND found.term % wanted
      AND length(found.term) BETWEEN 6 AND 32 AND found.term !~ '[0-9._-]'
    GROUP BY found.term
    ORDER BY similarity(found.term, wanted) DESC, found.term
    LIMIT most
$$;
