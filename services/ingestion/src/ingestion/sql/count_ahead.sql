-- In the order in which workers choose: what users wait for before what sources bring, then the first to be due.
SELECT count(DISTINCT other.document_id)
FROM document_stage AS mine
JOIN document_stage AS other
  ON other.workspace_id = mine.workspace_id AND other.document_id <> mine.document_id
 AND (
     other.status = 'running' AND other.name IN ('convert', 'chunk', 'embed')
     OR other.status = 'queued' AND other.name IN ('convert', 'embed') AND other.due_at <= now()
        AND (other.lane = mine.lane AND other.due_at < mine.due_at OR other.lane = 'interactive' AND mine.lane = 'bulk')
 )
WHERE mine.workspace_id = %(workspace_id)s AND mine.document_id = %(document_id)s
  AND mine.status = 'queued' AND mine.name IN ('convert', 'embed')
