-- One at a time moves the postings of a workspace. After the workspace's own lock and those of documents.
SELECT pg_advisory_xact_lock(hashtextextended('retrieval/blocks/' || %(workspace_id)s::text, 0))
