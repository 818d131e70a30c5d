-- Statements of what was, will be or is not so are kept beside those of the present. `relation` sums what is current and
-- not closed by a later document; what stood here until now was current.
ALTER TABLE relation_evidence
    ADD COLUMN status text NOT NULL DEFAULT 'current',
    ADD COLUMN dated text COLLATE "C",
    ADD COLUMN closed_by uuid,
    ADD CONSTRAINT relation_evidence_status CHECK (status IN ('current', 'past', 'planned', 'negated'));
CREATE INDEX relation_evidence_over_by_source ON relation_evidence (workspace_id, source_id)
WHERE status <> 'current' OR closed_by IS NOT NULL;
CREATE INDEX relation_evidence_over_by_target ON relation_evidence (workspace_id, target_id)
WHERE status <> 'current' OR closed_by IS NOT NULL;
CREATE INDEX relation_evidence_owners ON relation_evidence (workspace_id, target_id) WHERE relation_type = 'OWNS';

-- A document's place among others: `written` as its metadata say, `dated` as it says itself or they do; its series and
-- edition, its numbers (ADR-14), and the numbers of documents that it takes the place of.
ALTER TABLE graphed_document
    ADD COLUMN written text COLLATE "C",
    ADD COLUMN dated text COLLATE "C",
    ADD COLUMN series text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN edition integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN known_as text[] NOT NULL DEFAULT '{}',
    ADD COLUMN replaces text[] NOT NULL DEFAULT '{}';
