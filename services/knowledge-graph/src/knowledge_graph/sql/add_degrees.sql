UPDATE entity SET outgoing = entity.outgoing + changed.outgoing, incoming = entity.incoming + changed.incoming
FROM unnest(%(ids)s::text[], %(outgoing)s::integer[], %(incoming)s::integer[]) AS changed (id, outgoing, incoming)
WHERE entity.workspace_id = %(workspace_id)s AND entity.id = changed.id
