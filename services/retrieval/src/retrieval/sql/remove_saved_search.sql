DELETE FROM saved_search
WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (%(version)s::integer IS NULL OR version = %(version)s)
