SELECT key.id, key.secret_sha256, key.revoked_at IS NOT NULL AS revoked, app_user.is_admin
FROM api_key AS key JOIN app_user ON app_user.id = key.user_id
WHERE key.workspace_id = %(workspace_id)s AND key.id = %(id)s
