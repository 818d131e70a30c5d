-- Returns in about how many texts of all users the words are, by the planner's statistics. EXPLAIN needs a function that
-- is not said to be stable.
CREATE FUNCTION texts_estimated(wanted text) RETURNS numeric LANGUAGE plpgsql STRICT SET search_path FROM CURRENT AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE format('EXPLAIN (FORMAT JSON) SELECT FROM session_text WHERE words @@ %L::tsquery', wanted) INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
REVOKE ALL ON FUNCTION texts_estimated(text) FROM PUBLIC;

-- As before; but the index is not asked for the beginning of a word where the words before it are rare enough. A letter
-- or two begin thousands of words, whose lists were all read and joined for every further character that was typed.
CREATE OR REPLACE FUNCTION texts_with(
    query text, user_id uuid, before_at timestamptz, before_id uuid, most integer
)
RETURNS TABLE (id uuid, session_id uuid, is_title boolean, written_at timestamptz) ROWS 50
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    looked_through constant integer := 2000;
    wanted text := websearch_to_tsquery('session_words', apart(query))::text;
    whole text;  -- the words before the last one, which all have to be there
    seen record;
    found_so_far integer;
BEGIN
    IF wanted LIKE '%''' THEN
        whole := substring(wanted FROM '^([^!|]+) (?:&|<->|<[0-9]+>) ''[^ ]*''$');
        wanted := wanted || ':*';  -- the last word may be the beginning of one
    END IF;
    before_at := coalesce(before_at, 'infinity');
    before_id := coalesce(before_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    RETURN QUERY
    SELECT newest.id, newest.session_id, newest.is_title, newest.written_at
    FROM (
        SELECT * FROM session_text AS text
        WHERE text.workspace_id = current_workspace() AND text.created_by = user_id
          AND (text.written_at, text.id) < (before_at, before_id)
        ORDER BY text.written_at DESC, text.id DESC
        LIMIT looked_through
    ) AS newest
    WHERE newest.words @@ wanted::tsquery
    LIMIT most;
    GET DIAGNOSTICS found_so_far = ROW_COUNT;
    IF found_so_far = most THEN
        RETURN;
    END IF;
    SELECT text.written_at, text.id INTO seen FROM session_text AS text
    WHERE text.workspace_id = current_workspace() AND text.created_by = user_id
      AND (text.written_at, text.id) < (before_at, before_id)
    ORDER BY text.written_at DESC, text.id DESC
    OFFSET looked_through - 1 LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF texts_estimated(whole) > looked_through THEN
        whole := NULL;
    END IF;
    RETURN QUERY
    WITH matching AS MATERIALIZED (
        SELECT text.id, text.session_id, text.is_title, text.written_at FROM session_text AS text
        WHERE text.workspace_id = current_workspace() AND text.created_by = user_id
          AND text.words @@ coalesce(whole, wanted)::tsquery
          -- Written as a function, it is asked of the rows that were found, not of the index.
          AND (whole IS NULL OR ts_match_vq(text.words, wanted::tsquery))
    )
    SELECT * FROM matching
    WHERE (matching.written_at, matching.id) < (seen.written_at, seen.id)
    ORDER BY matching.written_at DESC, matching.id DESC
    LIMIT most - found_so_far;
END $$;
