SELECT workspace_id, id, config
FROM source
WHERE kind = 'folder' AND (config ->> 'watch')::boolean AND NOT paused AND deleted_at IS NULL
