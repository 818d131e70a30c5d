-- Chunks of the workspace, and bytes of the approximate index that all workspaces share: both without counting.
SELECT
    coalesce((SELECT chunks FROM workspace_statistics WHERE workspace_id = %(workspace_id)s), 0),
    coalesce(pg_relation_size(to_regclass('chunk_vector_' || embedding_space_id(%(model)s, %(dims)s))), 0)
