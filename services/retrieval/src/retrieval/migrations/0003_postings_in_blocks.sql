-- Postings in blocks instead of a row each, and chunk numbers that say their document: document << 20 | ordinal.

-- Up to 4096 postings of one term, in the order of their chunks' numbers; of a term the ranges may overlap. Blocks are
-- written once: a changed one gets another number. The payload (retrieval.lexical.postings) is not compressed again, and
-- where it is large it lies outside the row, which is then read without it.
CREATE SEQUENCE posting_batch;
CREATE TABLE posting_block (
    workspace_id uuid NOT NULL,
    block bigint NOT NULL,
    first_chunk bigint NOT NULL,
    last_chunk bigint NOT NULL,
    postings integer NOT NULL,
    max_frequency integer NOT NULL,
    min_length integer NOT NULL,
    term text COLLATE "C" NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (workspace_id, term, block)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE posting_block ALTER COLUMN payload SET STORAGE EXTERNAL;
SELECT protect('posting_block');

-- What was indexed lately: all terms of some chunks of one document in a row, until they are folded into the blocks.
CREATE TABLE recent_postings (
    workspace_id uuid NOT NULL,
    document bigint NOT NULL,
    batch bigint NOT NULL,
    postings integer NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (workspace_id, document, batch)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
SELECT protect_queue('recent_postings');

-- `stemming`: how the words of the document were analysed. `posting_count`: over all of its chunks.
ALTER TABLE indexed_document
    ADD COLUMN next_ordinal integer NOT NULL DEFAULT 0,
    ADD COLUMN posting_count bigint NOT NULL DEFAULT 0,
    ADD COLUMN stemming text NOT NULL DEFAULT 'english';

-- `terms` and `postings` are what the index has of the chunk: its length, and how many distinct terms.
ALTER TABLE chunk
    ADD COLUMN terms integer NOT NULL DEFAULT 0,
    ADD COLUMN postings integer NOT NULL DEFAULT 0,
    ADD COLUMN pieces bytea,
    ADD COLUMN cells text;
ALTER TABLE workspace_statistics ADD COLUMN generation bigint NOT NULL DEFAULT 0;

-- By what rules the words of a workspace's documents were analysed: a query is by all of them.
CREATE TABLE workspace_stemming (
    workspace_id uuid NOT NULL,
    stemming text NOT NULL,
    documents bigint NOT NULL,
    PRIMARY KEY (workspace_id, stemming)
);
SELECT protect('workspace_stemming');
INSERT INTO workspace_stemming SELECT workspace_id, 'english', count(*) FROM indexed_document GROUP BY workspace_id;

-- The new numbers, in the order of the old ones.
CREATE TEMPORARY TABLE renumbered ON COMMIT DROP AS
SELECT workspace_id, number, document << 20 | row_number() OVER (PARTITION BY workspace_id, document ORDER BY number) - 1
       AS renumbered
FROM chunk;
CREATE INDEX ON renumbered (workspace_id, number);
ANALYZE renumbered;

UPDATE indexed_document SET next_ordinal = counted.chunks, posting_count = counted.postings
FROM (SELECT workspace_id, document,
             count(*) AS chunks,
             (SELECT count(*) FROM posting
              WHERE posting.workspace_id = chunk.workspace_id AND posting.document = chunk.document) AS postings
      FROM chunk GROUP BY workspace_id, document) AS counted
WHERE indexed_document.workspace_id = counted.workspace_id AND indexed_document.number = counted.document;

-- A payload that begins with 1 is plain: all chunks, all frequencies, all lengths, as the server sends numbers.
INSERT INTO posting_block (workspace_id, block, first_chunk, last_chunk, postings, max_frequency, min_length, term, payload)
SELECT workspace_id, nextval('posting_batch'), min(chunk), max(chunk), count(*), max(frequency), min(length), term,
       '\x01'::bytea || string_agg(int8send(chunk), '' ORDER BY chunk) || string_agg(int4send(frequency), '' ORDER BY chunk)
       || string_agg(int4send(length), '' ORDER BY chunk)
FROM (SELECT posting.workspace_id, term, renumbered AS chunk, frequency, length,
             (row_number() OVER (PARTITION BY posting.workspace_id, term ORDER BY renumbered) - 1) / 4096 AS part
      FROM posting
      JOIN renumbered ON renumbered.workspace_id = posting.workspace_id AND renumbered.number = posting.chunk) AS cut
GROUP BY workspace_id, term, part;

-- The old and the new numbers may be the same for different chunks: the key is away meanwhile.
ALTER TABLE chunk DROP CONSTRAINT chunk_pkey;
UPDATE chunk SET number = renumbered.renumbered, terms = coalesce(counted.terms, 0), postings = coalesce(counted.postings, 0)
FROM renumbered
LEFT JOIN (SELECT workspace_id, chunk, max(length) AS terms, count(*) AS postings
           FROM posting GROUP BY workspace_id, chunk) AS counted
     ON counted.workspace_id = renumbered.workspace_id AND counted.chunk = renumbered.number
WHERE chunk.workspace_id = renumbered.workspace_id AND chunk.number = renumbered.number;
ALTER TABLE chunk ADD PRIMARY KEY (workspace_id, number);

-- An approximate index is built again faster than it takes every row once more.
CREATE TEMPORARY TABLE approximate ON COMMIT DROP AS
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
FROM pg_index
JOIN pg_class ON pg_class.oid = indexrelid
JOIN pg_am ON pg_am.oid = relam
WHERE indrelid = 'chunk_vector'::regclass AND amname = 'hnsw';
DO $$ DECLARE one text; BEGIN
    FOR one IN SELECT name FROM approximate LOOP EXECUTE 'DROP INDEX ' || one; END LOOP;
END $$;
ALTER TABLE chunk_vector DROP CONSTRAINT chunk_vector_pkey;
UPDATE chunk_vector SET chunk = renumbered.renumbered
FROM renumbered
WHERE chunk_vector.workspace_id = renumbered.workspace_id AND chunk_vector.chunk = renumbered.number;
ALTER TABLE chunk_vector ADD PRIMARY KEY (workspace_id, model, dims, chunk);
DO $$ DECLARE one text; BEGIN
    FOR one IN SELECT definition FROM approximate LOOP EXECUTE one; END LOOP;
END $$;

-- A document's chunks and vectors are a range of the key; of vectors in each of the spaces that the key begins with.
CREATE FUNCTION vector_spaces(workspace uuid) RETURNS TABLE (model text, dims integer)
LANGUAGE sql STABLE ROWS 2 SET search_path FROM CURRENT AS $$
    WITH RECURSIVE space AS (
        (SELECT chunk_vector.model, chunk_vector.dims FROM chunk_vector
         WHERE workspace_id = workspace
         ORDER BY chunk_vector.model, chunk_vector.dims
         LIMIT 1)
        UNION ALL
        SELECT next.model, next.dims
        FROM space
        CROSS JOIN LATERAL (
            SELECT chunk_vector.model, chunk_vector.dims FROM chunk_vector
            WHERE workspace_id = workspace AND (chunk_vector.model, chunk_vector.dims) > (space.model, space.dims)
            ORDER BY chunk_vector.model, chunk_vector.dims
            LIMIT 1
        ) AS next
    )
    SELECT space.model, space.dims FROM space
$$;
DROP INDEX chunk_document;
DROP INDEX chunk_vector_document;
DROP TABLE posting;
DROP SEQUENCE chunk_number;
