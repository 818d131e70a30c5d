-- name: lock
-- Keeps others from moving or removing the workspace's postings until the transaction ends; new ones can be added. Takes
-- the workspace's own lock before, as all must.
SELECT pg_advisory_xact_lock(hashtextextended('retrieval/blocks/' || %(workspace_id)s::text, 0))
FROM is_living(%(workspace_id)s);

-- name: try_lock
-- Takes the same lock if it is free and the workspace exists.
SELECT pg_try_advisory_xact_lock(hashtextextended('retrieval/blocks/' || %(workspace_id)s::text, 0))
FROM is_living(%(workspace_id)s) AS living
WHERE living;

-- name: every_term
-- Returns terms that every block and every group has: those of blocks, and the first ones of groups.
SELECT term FROM posting_block WHERE workspace_id = %(workspace_id)s
UNION
SELECT first_term FROM posting_group WHERE workspace_id = %(workspace_id)s;

-- name: insert_blocks
-- Writes blocks.
INSERT INTO posting_block
    (workspace_id, block, first_chunk, last_chunk, postings, max_frequency, min_length, term, payload)
SELECT %(workspace_id)s, nextval('posting_batch'), first_chunk, last_chunk, postings, max_frequency, min_length, term, payload
FROM unnest(%(first)s::bigint[], %(last)s::bigint[], %(postings)s::integer[], %(max_frequency)s::integer[],
            %(min_length)s::integer[], %(terms)s::text[], %(payloads)b::bytea[])
     AS written (first_chunk, last_chunk, postings, max_frequency, min_length, term, payload);

-- name: remove_blocks
-- Deletes blocks.
DELETE FROM posting_block USING unnest(%(terms)s::text[], %(blocks)s::bigint[]) AS gone (term, block)
WHERE posting_block.workspace_id = %(workspace_id)s AND posting_block.term = gone.term
  AND posting_block.block = gone.block;

-- name: growing_blocks
-- Returns for each term the block to add its new postings to: one that has room, and is small enough that the new
-- postings are at least a fifth of what is written.
SELECT wanted.term, growing.block, growing.payload
FROM unnest(%(terms)s::text[], %(counts)s::integer[]) AS wanted (term, count)
CROSS JOIN LATERAL (
    SELECT block, payload
    FROM (SELECT block, postings, payload FROM posting_block
          WHERE workspace_id = %(workspace_id)s AND posting_block.term = wanted.term
          ORDER BY block DESC
          LIMIT 4) AS newest
    WHERE postings + count <= %(largest)s AND postings <= 4 * count
    ORDER BY postings
    LIMIT 1
) AS growing;

-- name: small_blocks
-- Returns small blocks; the literal must be the one of the partial index.
SELECT term, block, payload FROM posting_block
WHERE workspace_id = %(workspace_id)s AND postings <= 64
LIMIT %(limit)s;

-- name: touched_blocks
-- Returns the blocks of terms that may have chunks in these ranges.
SELECT term, block, payload FROM posting_block
WHERE workspace_id = %(workspace_id)s AND term = ANY (%(terms)s)
  AND EXISTS (SELECT FROM unnest(%(firsts)s::bigint[], %(lasts)s::bigint[]) AS range (first, last)
              WHERE first_chunk <= range.last AND last_chunk >= range.first);

-- name: touched_groups
-- Returns the groups of terms; those outside the given part of all groups come with an empty payload.
SELECT first_term, CASE WHEN %(part)s::integer IS NULL OR abs(hashtext(first_term)::bigint) %% %(parts)s = %(part)s
                        THEN payload ELSE '' END
FROM (SELECT DISTINCT (SELECT first_term FROM posting_group
                       WHERE workspace_id = %(workspace_id)s AND first_term <= wanted.term
                       ORDER BY first_term DESC
                       LIMIT 1) AS first_term
      FROM unnest(%(terms)s::text[]) AS wanted (term)) AS touched
JOIN posting_group USING (first_term)
WHERE workspace_id = %(workspace_id)s;

-- name: put_groups
-- Writes groups, in place of those with the same first term.
INSERT INTO posting_group (workspace_id, first_term, number, first_chunk, last_chunk, payload)
SELECT %(workspace_id)s, first_term, nextval('posting_batch'), first_chunk, last_chunk, payload
FROM unnest(%(first_terms)s::text[], %(first)s::bigint[], %(last)s::bigint[], %(payloads)b::bytea[])
     AS written (first_term, first_chunk, last_chunk, payload)
ON CONFLICT (workspace_id, first_term) DO UPDATE
SET number = excluded.number, first_chunk = excluded.first_chunk, last_chunk = excluded.last_chunk,
    payload = excluded.payload;

-- name: remove_groups
-- Deletes groups.
DELETE FROM posting_group WHERE workspace_id = %(workspace_id)s AND first_term = ANY (%(first_terms)s::text[]);

-- name: recent_of_documents
-- Returns the recent rows of documents.
SELECT document, batch, payload FROM recent_postings
WHERE workspace_id = %(workspace_id)s AND document = ANY (%(documents)s);

-- name: oldest_recent
-- Returns the oldest recent rows, up to a number of postings.
SELECT document, batch, payload
FROM (SELECT document, batch, postings, payload, sum(postings) OVER (ORDER BY batch) AS total
      FROM recent_postings WHERE workspace_id = %(workspace_id)s) AS recent
WHERE total - postings < %(most)s
ORDER BY batch;

-- name: insert_recents
-- Writes recent rows of several documents.
INSERT INTO recent_postings (workspace_id, document, batch, postings, payload)
SELECT %(workspace_id)s, document, nextval('posting_batch'), postings, payload
FROM unnest(%(documents)s::bigint[], %(postings)s::integer[], %(payloads)b::bytea[]) AS written (document, postings, payload)
RETURNING document, batch;

-- name: remove_recent
-- Deletes recent rows.
DELETE FROM recent_postings USING unnest(%(documents)s::bigint[], %(batches)s::bigint[]) AS gone (document, batch)
WHERE recent_postings.workspace_id = %(workspace_id)s AND recent_postings.document = gone.document
  AND recent_postings.batch = gone.batch;

-- name: recent_workspaces
-- Counts the rows and postings that wait to be folded, by workspace.
SELECT workspace_id, count(*) AS documents, sum(postings)::bigint AS postings FROM recent_postings GROUP BY workspace_id;

-- name: ask_for_compaction
-- Wakes the compaction if there are more unfolded rows than a search should have to read.
SELECT pg_notify(%(channel)s, '')
WHERE %(limit)s < (SELECT count(*) FROM (SELECT FROM recent_postings WHERE workspace_id = %(workspace_id)s
                                         LIMIT %(limit)s + 1) AS counted);

-- name: chunk_texts
-- Returns the texts of chunks, whose terms are needed to find their postings.
SELECT number, chunk_index, heading_path, content, chunk.postings
FROM unnest(%(documents)s::bigint[]) AS wanted (document)
JOIN chunk ON number >= wanted.document << 20 AND number < (wanted.document + 1) << 20
WHERE workspace_id = %(workspace_id)s AND (%(chunks)s::bigint[] IS NULL OR number = ANY (%(chunks)s));
