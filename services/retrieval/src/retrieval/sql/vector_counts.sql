SELECT model, dims, count(*) FROM chunk_vector WHERE workspace_id = %(workspace_id)s GROUP BY model, dims
