-- `attempts` adds up until the text is asked for no more.
INSERT INTO refinement_result (workspace_id, digest, state, attempts, found, model, error)
VALUES (%(workspace_id)s, %(digest)s, %(state)s, %(attempts)s, %(found)s, %(model)s, %(error)s)
ON CONFLICT (workspace_id, digest) DO UPDATE SET
    state = excluded.state,
    attempts = refinement_result.attempts + excluded.attempts,
    found = excluded.found,
    model = excluded.model,
    error = excluded.error,
    changed_at = now()
WHERE refinement_result.state <> 'done'
RETURNING attempts
