-- Which mentions come with a statement of their type: one of each name in a document; and in how many documents.
ALTER TABLE mention ADD COLUMN states_type boolean NOT NULL DEFAULT false;
ALTER TABLE surface ADD COLUMN stated integer NOT NULL DEFAULT 0;

-- The type by mentions or a correction. `entity_type` differs if relations to other entities tell the type.
ALTER TABLE entity ADD COLUMN own_type text COLLATE "C" NOT NULL DEFAULT '';
UPDATE entity SET own_type = entity_type;

-- What tells a type, without the many co-occurrences.
CREATE INDEX relation_evidence_telling_target ON relation_evidence (workspace_id, source_id, target_id)
WHERE relation_type IN ('CALLS', 'DEPENDS_ON', 'OWNS', 'READS', 'USES', 'WRITES');
CREATE INDEX relation_evidence_telling_source ON relation_evidence (workspace_id, target_id, source_id)
WHERE relation_type IN ('CALLS', 'DEPENDS_ON', 'OWNS', 'READS', 'USES', 'WRITES');
