-- Chunks in fewer bytes: the document's id is where its number is, and wordpieces are steps from one to the next.

-- Two bytes each, little-endian and rising, become a byte each: what it adds to the one before it, after a 255 for each
-- 255 that it is larger by.
CREATE FUNCTION pg_temp.steps_of(pieces bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(string_agg(decode(repeat('ff', step / 255) || lpad(to_hex(step % 255), 2, '0'), 'hex'), '' ORDER BY at), '')
    FROM (SELECT at, piece - lag(piece, 1, 0) OVER (ORDER BY at) AS step
          FROM (SELECT at, get_byte(pieces, 2 * at) + 256 * get_byte(pieces, 2 * at + 1) AS piece
                FROM generate_series(0, length(pieces) / 2 - 1) AS at) AS read) AS stepped
$$;
DROP INDEX chunk_place;
ALTER TABLE chunk
    DROP COLUMN document_id,
    ALTER COLUMN pieces TYPE bytea USING CASE WHEN pieces IS NOT NULL THEN pg_temp.steps_of(pieces) END;

CREATE UNIQUE INDEX indexed_document_number ON indexed_document (workspace_id, number);
CREATE INDEX chunk_place ON chunk (workspace_id, document, chunk_index);
