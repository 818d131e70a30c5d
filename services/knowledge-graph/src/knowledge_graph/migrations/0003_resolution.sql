-- Names are resolved in two steps: inside a document (`name_id`, kept as it is) and inside the workspace (`entity_id`), so
-- that a merge and its undoing are updates. Words that may be a name wait as candidates until another place makes them one.

ALTER TABLE mention
    ADD COLUMN name_id text COLLATE "C",
    ADD COLUMN surface_key text COLLATE "C",
    ADD COLUMN origin text NOT NULL DEFAULT 'text',
    ADD COLUMN sentence_start integer NOT NULL DEFAULT 0,
    ADD COLUMN sentence_end integer NOT NULL DEFAULT 0,
    ADD COLUMN about_as text;
-- Spellings of one name shared a key until now: the surface's is the mention's.
UPDATE mention SET name_id = entity_id, surface_key = name_key, surface = left(surface, 300);
UPDATE mention SET about_as = CASE
    WHEN mention.entity_type <> 'DOCUMENT' THEN 'heading'
    WHEN mention.surface = document.title THEN 'title'
    ELSE 'name'
END
FROM graphed_document AS document
WHERE
    mention.about
    AND document.workspace_id = mention.workspace_id
    AND document.document_id = mention.document_id;
ALTER TABLE mention DROP COLUMN about;
ALTER TABLE mention RENAME COLUMN about_as TO about;
ALTER TABLE mention
    ALTER COLUMN name_id SET NOT NULL,
    ALTER COLUMN surface_key SET NOT NULL,
    ADD CONSTRAINT mention_origin CHECK (origin IN ('text', 'known', 'model', 'user')),
    ADD CONSTRAINT mention_about CHECK (about IN ('title', 'name', 'heading', 'definition', 'subject'));
CREATE INDEX mention_about ON mention (workspace_id, entity_id) INCLUDE (chunk_id, document_id) WHERE about IS NOT NULL;
CREATE INDEX mention_by_chunk ON mention (workspace_id, chunk_id) INCLUDE (entity_id);

ALTER TABLE relation_evidence
    ADD COLUMN source_name_id text COLLATE "C",
    ADD COLUMN target_name_id text COLLATE "C",
    ADD COLUMN method text NOT NULL DEFAULT 'pattern',
    ADD COLUMN phrase text NOT NULL DEFAULT '';
UPDATE relation_evidence SET
    source_name_id = source_id,
    target_name_id = target_id,
    method = CASE relation_type WHEN 'CO_OCCURS' THEN 'cooccurrence' ELSE 'pattern' END;
ALTER TABLE relation_evidence
    ALTER COLUMN source_name_id SET NOT NULL,
    ALTER COLUMN target_name_id SET NOT NULL,
    ALTER COLUMN method DROP DEFAULT;

ALTER TABLE graphed_document ADD COLUMN notes text[] NOT NULL DEFAULT '{}';

-- Every place that says that two names are one.
CREATE TABLE alias_evidence (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    number integer NOT NULL,
    alias_id text COLLATE "C" NOT NULL,
    alias_key text NOT NULL,
    alias text NOT NULL,
    target_id text COLLATE "C" NOT NULL,
    target_key text NOT NULL,
    target text NOT NULL,
    method text NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    span_start integer NOT NULL,
    span_end integer NOT NULL,
    PRIMARY KEY (workspace_id, document_id, number)
);
CREATE INDEX alias_evidence_by_alias ON alias_evidence (workspace_id, alias_id) INCLUDE (target_id);
CREATE INDEX alias_evidence_by_target ON alias_evidence (workspace_id, target_id) INCLUDE (alias_id);
SELECT protect('alias_evidence');

-- The names that the workspace has heard of: by own mentions (`own` counts them), or by evidence for an alias.
-- `entity_id` is what the name is resolved to, `is_known` that this entity has an own mention: then the name's candidates
-- are mentions, unless they are in too many chunks for a name (`is_widespread`; `chunks` counts them). `hash` is that of
-- candidates.
CREATE TABLE name (
    workspace_id uuid NOT NULL,
    id text COLLATE "C" NOT NULL,
    hash bigint NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    entity_id text COLLATE "C" NOT NULL,
    own integer NOT NULL,
    evidence integer NOT NULL,
    is_known boolean NOT NULL DEFAULT false,
    chunks integer NOT NULL DEFAULT 0,
    is_widespread boolean NOT NULL DEFAULT false,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX name_by_hash ON name (workspace_id, hash);
CREATE INDEX name_by_entity ON name (workspace_id, entity_id);
SELECT protect('name');

INSERT INTO name (workspace_id, id, hash, name_key, entity_id, own, evidence, is_known)
SELECT
    workspace_id, name_id, ('x' || left(encode(sha256(convert_to(workspace_id::text || '/' || name_id, 'UTF8')), 'hex'), 16))::bit(64)::bigint, min(name_key),
    min(entity_id), count(*), 0, true
FROM mention
GROUP BY workspace_id, name_id;

-- How an entity is written, by its mentions: the names to link a text with, and the sums behind `entity`.
CREATE TABLE surface (
    workspace_id uuid NOT NULL,
    entity_id text COLLATE "C" NOT NULL,
    surface text COLLATE "C" NOT NULL,
    entity_type text COLLATE "C" NOT NULL,
    surface_key text COLLATE "C" NOT NULL,
    uses integer NOT NULL,
    PRIMARY KEY (workspace_id, entity_id, surface, entity_type)
);
CREATE INDEX surface_by_key ON surface (workspace_id, surface_key) INCLUDE (entity_id, uses);
SELECT protect('surface');

INSERT INTO surface (workspace_id, entity_id, surface, entity_type, surface_key, uses)
SELECT workspace_id, entity_id, surface, entity_type, min(surface_key), count(*)
FROM mention
GROUP BY workspace_id, entity_id, surface, entity_type;

-- Of each chunk the words that could be a name and are none yet, as arrays of one length. The hash is of the workspace
-- and the name, so that the index finds those of one workspace alone.
CREATE TABLE candidates (
    workspace_id uuid NOT NULL,
    document_id uuid NOT NULL,
    first_number integer NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    hashes bigint[] NOT NULL,
    surfaces text[] NOT NULL,
    starts integer[] NOT NULL,
    ends integer[] NOT NULL,
    sentence_starts integer[] NOT NULL,
    sentence_ends integer[] NOT NULL,
    PRIMARY KEY (workspace_id, document_id, first_number)
);
CREATE INDEX candidates_by_hash ON candidates USING gin (hashes);
SELECT protect('candidates');

-- Row-level security keeps an operator that might leak what it reads from using an index. The owner of these functions
-- is not under it, so that they keep to the transaction's workspace themselves.
CREATE FUNCTION chunks_with_candidates(wanted bigint[]) RETURNS TABLE (document_id uuid, first_number integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT candidates.document_id, candidates.first_number
    FROM candidates
    WHERE candidates.workspace_id = current_workspace() AND candidates.hashes && wanted
$$;
CREATE FUNCTION count_candidates(wanted bigint[]) RETURNS TABLE (hash bigint, chunks bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT one.hash, (
        SELECT count(*) FROM candidates
        WHERE candidates.workspace_id = current_workspace() AND candidates.hashes @> ARRAY[one.hash]
    )
    FROM unnest(wanted) AS one (hash)
$$;

CREATE INDEX entity_name_similar ON entity USING gin (name_key gin_trgm_ops);
CREATE INDEX entity_by_type ON entity (workspace_id, entity_type, mentions DESC, id);
CREATE INDEX entity_by_documents ON entity (workspace_id, documents DESC, id);

CREATE FUNCTION similar_entities(wanted text, most integer) RETURNS TABLE (id text, similarity real)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET pg_trgm.similarity_threshold = 0.4 AS $$
    SELECT entity.id, similarity(entity.name_key, wanted)
    FROM entity
    WHERE entity.workspace_id = current_workspace() AND entity.name_key % wanted
    ORDER BY similarity(entity.name_key, wanted) DESC, entity.mentions DESC, entity.id
    LIMIT most
$$;

-- How many relations an entity has: where a hub is to be told from the others before its relations are read.
ALTER TABLE entity
    ADD COLUMN outgoing integer NOT NULL DEFAULT 0,
    ADD COLUMN incoming integer NOT NULL DEFAULT 0;
UPDATE entity SET
    outgoing = (
        SELECT count(*) FROM relation
        WHERE relation.workspace_id = entity.workspace_id AND relation.source_id = entity.id
    ),
    incoming = (
        SELECT count(*) FROM relation
        WHERE relation.workspace_id = entity.workspace_id AND relation.target_id = entity.id
    );
CREATE INDEX entity_by_degree ON entity (workspace_id, (outgoing + incoming) DESC, id);

-- What Neo4j does not show yet, each thing once: a whole workspace, an entity (`id`), the relations between two (`id`
-- and `other`), the mentions of a document (`id`), or those of one entity (`other`) in it. A change is written as the
-- things that it touched; the projection reads their present state.
ALTER TABLE projection_queue RENAME TO projection_queue_by_document;
DROP INDEX projection_queue_order;
CREATE TABLE projection_queue (
    workspace_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('workspace', 'entity', 'relation', 'mentions', 'document')),
    id text COLLATE "C" NOT NULL,
    other text COLLATE "C" NOT NULL DEFAULT '',
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    receipt jsonb,
    queued_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, kind, id, other)
);
CREATE INDEX projection_queue_order ON projection_queue (sequence);
SELECT protect_queue('projection_queue');
CREATE TRIGGER projection_queued AFTER INSERT OR UPDATE ON projection_queue
FOR EACH STATEMENT EXECUTE FUNCTION notify_projection();

-- Nodes gain properties: every workspace is shown anew. Confirmations that wait go on waiting.
INSERT INTO projection_queue (workspace_id, kind, id)
SELECT DISTINCT workspace_id, 'workspace', '' FROM graphed_document
UNION
SELECT DISTINCT workspace_id, 'workspace', '' FROM projection_queue_by_document;
INSERT INTO projection_queue (workspace_id, kind, id, receipt)
SELECT workspace_id, 'document', document_id::text, receipt FROM projection_queue_by_document
WHERE receipt IS NOT NULL
ORDER BY sequence;
DROP TABLE projection_queue_by_document;
