UPDATE name SET is_known = marked.is_known, chunks = marked.chunks, is_widespread = marked.is_widespread
FROM unnest(
    %(ids)s::text[], %(knowns)s::boolean[], %(chunks)s::integer[], %(widespreads)s::boolean[]
) AS marked (id, is_known, chunks, is_widespread)
WHERE name.workspace_id = %(workspace_id)s AND name.id = marked.id
