-- A web session that was begun with an API key acts as the key, and ends with it.
ALTER TABLE web_session ADD COLUMN key_id uuid;
ALTER TABLE web_session DROP CONSTRAINT web_session_method_check;
ALTER TABLE web_session ADD CONSTRAINT web_session_method_check CHECK (method IN ('password', 'openid', 'key'));
