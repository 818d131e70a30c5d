SELECT document, batch, payload
FROM (SELECT document, batch, postings, payload, sum(postings) OVER (ORDER BY batch) AS total
      FROM recent_postings WHERE workspace_id = %(workspace_id)s) AS recent
WHERE total - postings < %(most)s
ORDER BY batch
