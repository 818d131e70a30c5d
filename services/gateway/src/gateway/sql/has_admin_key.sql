SELECT EXISTS (
    SELECT FROM api_key AS key
    JOIN app_user ON app_user.id = key.user_id
    JOIN membership AS member ON member.workspace_id = key.workspace_id AND member.user_id = key.user_id
    WHERE app_user.is_admin AND key.revoked_at IS NULL AND least(key.role, member.role) = 'owner'
      AND key.workspace_id IS DISTINCT FROM %(outside)s::uuid
)
