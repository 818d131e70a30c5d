-- What changed again meanwhile has another number, and stays.
DELETE FROM projection_queue
USING unnest(%(kinds)s::text[], %(ids)s::text[], %(others)s::text[], %(sequences)s::bigint[])
    AS done (kind, id, other, sequence)
WHERE
    projection_queue.workspace_id = %(workspace_id)s
    AND projection_queue.kind = done.kind
    AND projection_queue.id = done.id
    AND projection_queue.other = done.other
    AND projection_queue.sequence = done.sequence
RETURNING projection_queue.id, projection_queue.receipt
