INSERT INTO message (workspace_id, id, session_id, run_id, role, content, citations, removed_citations, mode)
VALUES (%(workspace_id)s, %(message_id)s, %(session_id)s, %(run_id)s, 'assistant', %(content)s, %(citations)s,
        %(removed_citations)s, %(mode)s)
