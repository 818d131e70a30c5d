-- Documents of the workspace, and bytes of the approximate index of their own vectors: both without counting.
SELECT
    coalesce((SELECT sum(documents)::bigint FROM workspace_stemming WHERE workspace_id = %(workspace_id)s), 0),
    coalesce(pg_relation_size(to_regclass('document_vector_' || embedding_space_id(%(model)s, %(dims)s))), 0)
