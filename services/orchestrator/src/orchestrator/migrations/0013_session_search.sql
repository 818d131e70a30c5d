-- The words of titles and messages, for the search of the user who wrote them. An accent makes no difference.
CREATE TEXT SEARCH CONFIGURATION session_words (COPY = pg_catalog.simple);
ALTER TEXT SEARCH CONFIGURATION session_words ALTER MAPPING FOR hword, hword_part, word WITH unaccent, simple;

CREATE TABLE session_text (
    workspace_id uuid NOT NULL,
    id uuid NOT NULL,
    created_by uuid NOT NULL,
    session_id uuid NOT NULL,
    is_title boolean NOT NULL,
    written_at timestamptz NOT NULL,
    words tsvector NOT NULL DEFAULT '',
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX session_text_session ON session_text (workspace_id, session_id);
SELECT protect('session_text');

-- Parts of paths, addresses and identifiers are words of their own. A message is searched up to where its words surely
-- fit a tsvector.
CREATE FUNCTION apart(content text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT translate(left(content, 100000), './\_@:', '      ')
$$;

CREATE FUNCTION keep_title_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO session_text (workspace_id, id, created_by, session_id, is_title, written_at, words)
    VALUES (NEW.workspace_id, NEW.id, NEW.created_by, NEW.id, true, NEW.created_at,
            to_tsvector('session_words', apart(coalesce(NEW.title, ''))))
    ON CONFLICT (workspace_id, id) DO UPDATE SET words = excluded.words;
    RETURN NULL;
END $$;
CREATE TRIGGER title_given AFTER INSERT ON session FOR EACH ROW
    WHEN (NEW.title IS NOT NULL) EXECUTE FUNCTION keep_title_words();
CREATE TRIGGER title_changed AFTER UPDATE OF title ON session FOR EACH ROW
    WHEN (OLD.title IS DISTINCT FROM NEW.title) EXECUTE FUNCTION keep_title_words();

CREATE FUNCTION keep_message_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO session_text (workspace_id, id, created_by, session_id, is_title, written_at, words)
    SELECT NEW.workspace_id, NEW.id, session.created_by, NEW.session_id, false, NEW.created_at,
           to_tsvector('session_words', apart(NEW.content))
    FROM session WHERE session.workspace_id = NEW.workspace_id AND session.id = NEW.session_id
    ON CONFLICT (workspace_id, id) DO UPDATE SET words = excluded.words;
    RETURN NULL;
END $$;
CREATE TRIGGER words_written AFTER INSERT OR UPDATE OF content ON message FOR EACH ROW
    WHEN (NEW.content <> '') EXECUTE FUNCTION keep_message_words();

CREATE FUNCTION drop_message_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM session_text WHERE workspace_id = OLD.workspace_id AND id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER words_deleted AFTER DELETE ON message FOR EACH ROW EXECUTE FUNCTION drop_message_words();

INSERT INTO session_text (workspace_id, id, created_by, session_id, is_title, written_at, words)
SELECT workspace_id, id, created_by, id, true, created_at, to_tsvector('session_words', apart(title))
FROM session WHERE title IS NOT NULL
UNION ALL
SELECT message.workspace_id, message.id, session.created_by, session.id, false, message.created_at,
       to_tsvector('session_words', apart(message.content))
FROM message JOIN session ON session.workspace_id = message.workspace_id AND session.id = message.session_id
WHERE message.content <> '';
CREATE INDEX session_text_newest ON session_text (workspace_id, created_by, written_at DESC, id DESC);
-- Words are indexed at once: every search would read through a list of those that wait.
CREATE INDEX session_text_words ON session_text USING gin (created_by, words) WITH (fastupdate = off);

-- Returns texts with all words, newest first. A frequent word is found soon among the newest texts; the others have few
-- entries in the index. Row-level security keeps an operator that might leak what it reads from using an index: the owner
-- of this function is not under it, so that the function itself keeps to the transaction's workspace.
CREATE FUNCTION texts_with(query text, user_id uuid, before_at timestamptz, before_id uuid, most integer)
RETURNS TABLE (id uuid, session_id uuid, is_title boolean, written_at timestamptz) ROWS 50
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    looked_through constant integer := 2000;
    wanted text := websearch_to_tsquery('session_words', apart(query))::text;
    seen record;
    found_so_far integer;
BEGIN
    IF wanted LIKE '%''' THEN
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
    RETURN QUERY
    WITH matching AS MATERIALIZED (
        SELECT text.id, text.session_id, text.is_title, text.written_at FROM session_text AS text
        WHERE text.workspace_id = current_workspace() AND text.created_by = user_id AND text.words @@ wanted::tsquery
    )
    SELECT * FROM matching
    WHERE (matching.written_at, matching.id) < (seen.written_at, seen.id)
    ORDER BY matching.written_at DESC, matching.id DESC
    LIMIT most - found_so_far;
END $$;
