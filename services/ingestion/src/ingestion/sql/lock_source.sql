-- Held beside others who take from it; its deletion waits for them.
SELECT id FROM source WHERE workspace_id = %(workspace_id)s AND id = %(source_id)s AND deleted_at IS NULL FOR SHARE
