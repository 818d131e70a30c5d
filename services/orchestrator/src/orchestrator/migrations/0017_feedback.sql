-- What users say of answers in their own sessions. It goes with the answer.
CREATE TABLE feedback (
    workspace_id uuid NOT NULL,
    message_id uuid NOT NULL,
    created_by uuid NOT NULL,
    rating text NOT NULL CHECK (rating IN ('up', 'down')),
    reasons text[] NOT NULL DEFAULT '{}',
    comment text,
    share_content boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, message_id),
    FOREIGN KEY (workspace_id, message_id) REFERENCES message (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX feedback_listing ON feedback (workspace_id, created_at DESC, message_id DESC);
SELECT protect('feedback');

-- An answer that is written anew was not what was rated.
CREATE FUNCTION drop_feedback() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM feedback WHERE workspace_id = NEW.workspace_id AND message_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER answer_unwritten AFTER UPDATE OF status ON message FOR EACH ROW
    WHEN (NEW.status = 'pending' AND OLD.status <> 'pending') EXECUTE FUNCTION drop_feedback();
