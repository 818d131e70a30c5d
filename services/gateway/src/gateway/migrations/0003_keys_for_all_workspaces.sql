-- Whether a key may also search the other workspaces that its user is a member of.
ALTER TABLE api_key ADD COLUMN all_workspaces boolean NOT NULL DEFAULT false;
CREATE INDEX membership_of_user ON membership (user_id);
