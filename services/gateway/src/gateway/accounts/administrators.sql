-- name: lock
SELECT pg_advisory_xact_lock(hashtext('gateway/administrators'));

-- name: can_get_in
-- Returns whether an administrator can get in: one besides the given user, to another workspace than the given one,
-- as its owner, with a key of it, by password, or at the provider that is set.
SELECT EXISTS (
    SELECT FROM app_user JOIN membership AS member ON member.user_id = app_user.id
    WHERE app_user.is_admin AND app_user.disabled_at IS NULL AND member.role = 'owner'
      AND app_user.id IS DISTINCT FROM %(besides)s::uuid
      AND member.workspace_id IS DISTINCT FROM %(outside)s::uuid
      AND (
          EXISTS (
              SELECT FROM api_key AS key
              WHERE key.workspace_id = member.workspace_id AND key.user_id = app_user.id AND key.role = 'owner'
                AND key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > clock_timestamp())
          )
          OR EXISTS (SELECT FROM user_password WHERE user_id = app_user.id)
          OR EXISTS (SELECT FROM user_identity WHERE user_id = app_user.id AND issuer = %(issuer)s::text)
      )
);
