-- Answers such as "I found nothing relevant to this in the documents." stand in the ledger, and are neither listed nor
-- recalled.
ALTER TABLE episode ADD COLUMN says_nothing boolean NOT NULL DEFAULT false;
UPDATE episode SET says_nothing = true
FROM memory
WHERE
    memory.workspace_id = episode.workspace_id AND memory.id = episode.id AND episode.role = 'assistant'
    AND memory.content LIKE 'I found nothing relevant to this in the documents.%';
