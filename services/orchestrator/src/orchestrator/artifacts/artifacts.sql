-- name: use_session
-- Until the transaction ends nobody else changes the session's artifact. Without a user, whoever's session it is.
UPDATE session SET updated_at = now()
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s
  AND (%(user_id)s::uuid IS NULL OR created_by = %(user_id)s)
RETURNING id;

-- name: has_session
SELECT id FROM session
WHERE workspace_id = %(workspace_id)s AND id = %(session_id)s AND created_by = %(user_id)s;

-- name: read
-- Returns a version of the session's artifact, by default the current one, with what its text is read from.
SELECT {columns}, artifact.id, artifact.session_id, artifact.version, artifact.current_index, artifact.last_index,
       artifact.indexed_document_id, artifact.indexed_index, artifact.updated_at, made.citations, made.whole_index,
       ARRAY(
           SELECT body FROM artifact_version AS part
           WHERE part.workspace_id = %(workspace_id)s AND part.artifact_id = artifact.id
             AND part.index BETWEEN made.whole_index AND made.index
           ORDER BY part.index
       ) AS bodies
FROM artifact
JOIN artifact_version AS made
    ON made.workspace_id = artifact.workspace_id AND made.artifact_id = artifact.id
    AND made.index = coalesce(%(index)s, artifact.current_index)
WHERE artifact.workspace_id = %(workspace_id)s
  AND (artifact.session_id = %(session_id)s OR artifact.id = %(artifact_id)s);

-- name: create
INSERT INTO artifact (workspace_id, id, session_id) VALUES (%(workspace_id)s, %(id)s, %(session_id)s);

-- name: insert_version
INSERT INTO artifact_version (
    workspace_id, artifact_id, index, parent_index, event, kind, language, title, document_id, created_by, run_id,
    message_id, outcome, characters, citations, whole_index, body)
VALUES (
    %(workspace_id)s, %(artifact_id)s, %(index)s, %(parent_index)s, %(event)s, %(kind)s, %(language)s, %(title)s,
    %(document_id)s, %(created_by)s, %(run_id)s, %(message_id)s, %(outcome)s, %(characters)s, %(citations)s,
    %(whole_index)s, %(body)s);

-- name: advance
UPDATE artifact
SET last_index = %(index)s, version = version + %(step)s, updated_at = clock_timestamp(),
    current_index = CASE WHEN %(outcome)s = 'kept_aside' THEN current_index ELSE %(index)s END
WHERE workspace_id = %(workspace_id)s AND id = %(artifact_id)s;

-- name: move
UPDATE artifact SET current_index = %(index)s, version = version + 1, updated_at = clock_timestamp()
WHERE workspace_id = %(workspace_id)s AND id = %(artifact_id)s;

-- name: newest_child
-- Returns the newest version that was made from this one and was current.
SELECT index FROM artifact_version
WHERE workspace_id = %(workspace_id)s AND artifact_id = %(artifact_id)s AND parent_index = %(index)s
  AND outcome <> 'kept_aside'
ORDER BY index DESC
LIMIT 1;

-- name: page
-- Returns the versions of an artifact, newest first.
SELECT {columns}, artifact_id, characters FROM artifact_version AS made
WHERE workspace_id = %(workspace_id)s AND artifact_id = %(artifact_id)s
  AND (%(before)s::integer IS NULL OR index < %(before)s)
ORDER BY index DESC
LIMIT %(limit)s;

-- name: run
-- Returns whose run it is, and of which session, in the workspace of the transaction.
SELECT workspace_id, session_id, created_by FROM run
WHERE workspace_id = current_setting('app.workspace_id')::uuid AND id = %(run_id)s;

-- name: of_run
-- Returns the version that the run made.
SELECT index, outcome FROM artifact_version WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s;

-- name: count
SELECT count(*) FROM artifact_version WHERE workspace_id = %(workspace_id)s AND artifact_id = %(artifact_id)s;

-- name: delete
DELETE FROM artifact WHERE workspace_id = %(workspace_id)s AND id = %(artifact_id)s;

-- name: delete_of_documents
-- Deletes the artifacts that show one of the documents; returns one of its documents for each.
DELETE FROM artifact
USING (
    SELECT DISTINCT ON (artifact_id) artifact_id, document_id FROM artifact_version
    WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s)
    ORDER BY artifact_id, document_id
) AS shown
WHERE artifact.workspace_id = %(workspace_id)s AND artifact.id = shown.artifact_id
RETURNING shown.document_id;

-- name: showing_documents
-- Returns each document once for each artifact that shows it.
SELECT DISTINCT ON (artifact_id, document_id) document_id FROM artifact_version
WHERE workspace_id = %(workspace_id)s AND document_id = ANY(%(document_ids)s);

-- name: mark_indexed
UPDATE artifact SET indexed_document_id = %(document_id)s, indexed_index = %(index)s
WHERE workspace_id = %(workspace_id)s AND id = %(artifact_id)s
RETURNING version;

-- name: indexed
SELECT id FROM artifact
WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND indexed_document_id IS NOT NULL;

-- name: forget_documents
-- A deleted document is no longer that of an artifact.
UPDATE artifact SET indexed_document_id = NULL, indexed_index = NULL
WHERE workspace_id = %(workspace_id)s AND indexed_document_id = ANY(%(document_ids)s);
