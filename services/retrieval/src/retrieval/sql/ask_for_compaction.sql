-- Only where there is more to fold than a search should have to look through.
SELECT pg_notify(%(channel)s, '')
WHERE %(limit)s < (SELECT count(*) FROM (SELECT FROM recent_postings WHERE workspace_id = %(workspace_id)s
                                         LIMIT %(limit)s + 1) AS counted)
