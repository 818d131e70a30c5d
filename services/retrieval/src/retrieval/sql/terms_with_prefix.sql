-- Those that the most chunks have, among at most `scanned` blocks.
SELECT term, sum(postings)::bigint AS frequency
FROM (SELECT term, postings FROM posting_block
      WHERE workspace_id = %(workspace_id)s AND term >= %(first)s AND term < %(last)s
      ORDER BY term
      LIMIT %(scanned)s) AS found
GROUP BY term
ORDER BY frequency DESC, term
LIMIT %(most)s
