-- Sessions that were deleted, for whoever erases what came from them and asks whether it is true.
CREATE TABLE deleted_session (
    workspace_id uuid NOT NULL,
    session_id uuid NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, session_id)
);
SELECT protect('deleted_session');

-- Temporary sessions are not listed, their words are not kept, and they are erased a day after their last use. What
-- housekeeping sees of all workspaces is a table of its own, with nothing of their content.
ALTER TABLE session ADD COLUMN temporary boolean NOT NULL DEFAULT false;
CREATE TABLE temporary_session (
    workspace_id uuid NOT NULL,
    session_id uuid NOT NULL,
    created_by uuid NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, session_id),
    FOREIGN KEY (workspace_id, session_id) REFERENCES session (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX temporary_session_use ON temporary_session (used_at);
SELECT protect_queue('temporary_session');

CREATE FUNCTION keep_last_use() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO temporary_session (workspace_id, session_id, created_by) VALUES (NEW.workspace_id, NEW.id, NEW.created_by)
    ON CONFLICT (workspace_id, session_id) DO UPDATE SET used_at = now();
    RETURN NULL;
END $$;
CREATE TRIGGER temporary_used AFTER INSERT OR UPDATE ON session FOR EACH ROW
    WHEN (NEW.temporary) EXECUTE FUNCTION keep_last_use();

DROP TRIGGER title_given ON session;
CREATE TRIGGER title_given AFTER INSERT ON session FOR EACH ROW
    WHEN (NEW.title IS NOT NULL AND NOT NEW.temporary) EXECUTE FUNCTION keep_title_words();
DROP TRIGGER title_changed ON session;
CREATE TRIGGER title_changed AFTER UPDATE OF title ON session FOR EACH ROW
    WHEN (OLD.title IS DISTINCT FROM NEW.title AND NOT NEW.temporary) EXECUTE FUNCTION keep_title_words();
CREATE OR REPLACE FUNCTION keep_message_words() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO session_text (workspace_id, id, created_by, session_id, is_title, written_at, words)
    SELECT NEW.workspace_id, NEW.id, session.created_by, NEW.session_id, false, NEW.created_at,
           to_tsvector('session_words', apart(NEW.content))
    FROM session
    WHERE session.workspace_id = NEW.workspace_id AND session.id = NEW.session_id AND NOT session.temporary
    ON CONFLICT (workspace_id, id) DO UPDATE SET words = excluded.words;
    RETURN NULL;
END $$;
