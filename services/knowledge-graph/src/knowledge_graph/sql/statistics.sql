SELECT
    (SELECT count(*) FROM entity WHERE workspace_id = %(workspace_id)s) AS entities,
    (SELECT count(*) FROM relation WHERE workspace_id = %(workspace_id)s) AS relations,
    (SELECT count(*) FROM graphed_document WHERE workspace_id = %(workspace_id)s AND method <> 'user') AS documents
