INSERT INTO recent_postings (workspace_id, document, batch, postings, payload)
VALUES (%(workspace_id)s, %(document)s, nextval('posting_batch'), %(postings)s, %(payload)s)
