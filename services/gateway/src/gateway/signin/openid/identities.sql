-- name: insert_request
INSERT INTO openid_request (state_sha256, nonce, code_verifier, user_id, expires_at)
VALUES (%(state_sha256)s, %(nonce)s, %(code_verifier)s, %(user_id)s,
        clock_timestamp() + make_interval(secs => %(seconds)s));

-- name: take_request
-- A state is good once.
DELETE FROM openid_request WHERE state_sha256 = %(state_sha256)s
RETURNING nonce, code_verifier, user_id, expires_at > clock_timestamp() AS is_open;

-- name: delete_ended
DELETE FROM openid_request WHERE expires_at < clock_timestamp();

-- name: find_user
SELECT app_user.id, app_user.name, app_user.email, app_user.is_admin, app_user.created_at, app_user.disabled_at
FROM user_identity AS identity JOIN app_user ON app_user.id = identity.user_id
WHERE identity.issuer = %(issuer)s AND identity.subject = %(subject)s;

-- name: insert_identity
INSERT INTO user_identity (issuer, subject, user_id) VALUES (%(issuer)s, %(subject)s, %(user_id)s)
ON CONFLICT DO NOTHING;
