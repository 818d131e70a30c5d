SELECT run.id, run.session_id, run.status, run.mode, run.attempts, run.node_trace, run.issues, run.error_type,
       run.error_message, run.created_at, run.started_at, run.finished_at,
       answer.id AS answer_id, answer.content, answer.citations, answer.removed_citations, answer.mode AS answer_mode,
       answer.created_at AS answered_at
FROM run
LEFT JOIN message AS answer
    ON answer.workspace_id = run.workspace_id AND answer.run_id = run.id AND answer.role = 'assistant'
WHERE run.workspace_id = %(workspace_id)s AND run.id = %(id)s AND run.created_by = %(user_id)s
