SELECT workspace_id, count(*) AS documents, sum(postings)::bigint AS postings FROM recent_postings GROUP BY workspace_id
