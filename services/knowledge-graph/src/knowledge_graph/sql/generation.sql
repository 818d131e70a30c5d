-- `changed_by` tells one from a database that was set back.
SELECT generation, xmin::text AS changed_by FROM graph_generation WHERE workspace_id = %(workspace_id)s
