SELECT EXISTS (
    SELECT FROM membership WHERE workspace_id = %(workspace_id)s AND user_id <> %(user_id)s AND role = 'owner'
)
