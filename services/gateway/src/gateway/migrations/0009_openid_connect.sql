-- Who a provider's subject is here: the pair is what identifies a user, never an e-mail address.
CREATE TABLE user_identity (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL REFERENCES app_user ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX user_identity_of_user ON user_identity (user_id);
ALTER TABLE user_identity ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON user_identity USING (is_system()) WITH CHECK (is_system());

-- Users who are at the provider. A row is used once. `user_id`: who was signed in, and is to get the identity.
CREATE TABLE openid_request (
    state_sha256 bytea PRIMARY KEY,
    nonce text NOT NULL,
    code_verifier text NOT NULL,
    user_id uuid REFERENCES app_user ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX openid_request_end ON openid_request (expires_at);
ALTER TABLE openid_request ENABLE ROW LEVEL SECURITY;
CREATE POLICY system ON openid_request USING (is_system()) WITH CHECK (is_system());
