-- Terms with few postings share rows: two thirds of a workspace's terms are in one passage or two, and a row each took
-- ten times what it held. A group holds all such terms from its first one to before the next group's (the first group of
-- a workspace begins with ''), and of frequent terms the postings that are not enough for a block of their own yet.
-- A group is changed in place, under another `number`. Nothing that changes is in an index, and a part of each page is left
-- free: a third of the groups is written at a time, which finds room beside the old ones, and those go without a vacuum.
CREATE TABLE posting_group (
    workspace_id uuid NOT NULL,
    first_term text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    first_chunk bigint NOT NULL,
    last_chunk bigint NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (workspace_id, first_term)
) WITH (fillfactor = 70);
ALTER TABLE posting_group ALTER COLUMN payload SET STORAGE MAIN;
SELECT protect('posting_group');

-- Blocks that are small, as all were of such terms before, are put into groups with whatever is folded next.
CREATE INDEX posting_block_small ON posting_block (workspace_id) WHERE postings <= 64;
ALTER TABLE posting_block SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE recent_postings SET (autovacuum_vacuum_cost_delay = 0);
