-- No row while something waits to be drawn.
SELECT coalesce((SELECT drawn FROM projection_state WHERE workspace_id = %(workspace_id)s), 0) AS drawn
WHERE NOT EXISTS (SELECT FROM projection_queue WHERE workspace_id = %(workspace_id)s)
