-- What the graph was made from: the same chunks told of again are recognised, and a renamed document is made anew.
ALTER TABLE graphed_document
    ADD COLUMN title text,
    ADD COLUMN chunks_key text NOT NULL DEFAULT '',
    ADD COLUMN chunks_digest text NOT NULL DEFAULT '';
