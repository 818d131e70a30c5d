SELECT (SELECT count(*) FROM document WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s) AS documents,
       (SELECT count(*) FROM document_version
        WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS versions,
       (SELECT count(*) FROM document_stage
        WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS stages
