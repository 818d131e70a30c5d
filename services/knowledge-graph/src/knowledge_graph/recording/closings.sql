-- name: follow
-- Closes statements of the present that a later document ends, and reopens those that nothing closes any more. Which
-- document closes a statement depends only on the set of documents. Returns the pairs that changed.
WITH pair AS (
    SELECT * FROM unnest(%(source_ids)s::text[], %(target_ids)s::text[]) AS rows (source_id, target_id)
),
touched AS (
    SELECT found.document_id, found.number
    FROM pair
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s
        AND found.source_id = pair.source_id
        AND found.target_id = pair.target_id
    WHERE found.status = 'current' AND found.relation_type = ANY(%(structural)s)
    UNION
    SELECT found.document_id, found.number
    FROM (SELECT DISTINCT target_id FROM pair) AS owned
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s
        AND found.target_id = owned.target_id
        AND found.relation_type = 'OWNS'
    WHERE found.status = 'current'
    UNION
    SELECT found.document_id, found.number
    FROM graphed_document AS document
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s AND found.document_id = document.document_id
    WHERE
        document.workspace_id = %(workspace_id)s
        AND document.known_as && %(superseding)s::text[]
        AND found.status = 'current'
        AND found.relation_type = ANY(%(structural)s)
),
statement AS MATERIALIZED (
    SELECT
        found.document_id, found.number, found.source_id, found.target_id, found.relation_type, found.method,
        found.closed_by, document.series, document.edition, document.known_as,
        greatest(document.dated, found.dated) AS dated,
        CASE WHEN found.relation_type = ANY(%(dependencies)s) THEN 'DEPENDS_ON' ELSE found.relation_type END AS family
    FROM touched
    INNER JOIN relation_evidence AS found
        ON found.workspace_id = %(workspace_id)s
        AND found.document_id = touched.document_id
        AND found.number = touched.number
    INNER JOIN graphed_document AS document
        ON document.workspace_id = %(workspace_id)s AND document.document_id = touched.document_id
),
judged AS (
    SELECT statement.*, closing.document_id AS closer
    FROM statement
    LEFT JOIN LATERAL (
        SELECT later.document_id
        FROM (
            -- Another statement says that it was so, or denies it.
            SELECT denial.document_id
            FROM relation_evidence AS denial
            INNER JOIN graphed_document AS document
                ON document.workspace_id = %(workspace_id)s AND document.document_id = denial.document_id
            WHERE
                denial.workspace_id = %(workspace_id)s
                AND denial.source_id = statement.source_id
                AND denial.target_id = statement.target_id
                AND denial.status IN ('past', 'negated')
                AND CASE
                    WHEN denial.method = 'correction' THEN
                        denial.relation_type IN (statement.relation_type, statement.family)
                    ELSE statement.family = CASE
                        WHEN denial.relation_type = ANY(%(dependencies)s) THEN 'DEPENDS_ON' ELSE denial.relation_type
                    END
                END
                AND (
                    denial.method = 'correction'
                    OR (document.series <> '' AND document.series = statement.series AND document.edition > statement.edition)
                    OR (
                        greatest(document.dated, denial.dated) > statement.dated
                        AND NOT starts_with(greatest(document.dated, denial.dated), statement.dated)
                    )
                )
            UNION ALL
            -- A later document names another owner and no longer this one. A team and a person in it do not contradict
            -- it.
            SELECT owner.document_id
            FROM relation_evidence AS owner
            INNER JOIN graphed_document AS document
                ON document.workspace_id = %(workspace_id)s AND document.document_id = owner.document_id
            WHERE
                statement.relation_type = 'OWNS'
                AND owner.workspace_id = %(workspace_id)s
                AND owner.target_id = statement.target_id
                AND owner.relation_type = 'OWNS'
                AND owner.source_id <> statement.source_id
                AND owner.status = 'current'
                AND (
                    (document.series <> '' AND document.series = statement.series AND document.edition > statement.edition)
                    OR (
                        greatest(document.dated, owner.dated) > statement.dated
                        AND NOT starts_with(greatest(document.dated, owner.dated), statement.dated)
                    )
                )
                AND NOT EXISTS (
                    SELECT FROM relation_evidence AS again
                    WHERE
                        again.workspace_id = %(workspace_id)s
                        AND again.source_id = statement.source_id
                        AND again.target_id = statement.target_id
                        AND again.relation_type = 'OWNS'
                        AND again.status = 'current'
                        AND again.document_id = owner.document_id
                )
                AND EXISTS (
                    SELECT FROM mention
                    WHERE
                        mention.workspace_id = %(workspace_id)s
                        AND mention.document_id = owner.document_id
                        AND mention.entity_id = owner.source_id
                        AND mention.entity_type = 'PERSON'
                ) = EXISTS (
                    SELECT FROM mention
                    WHERE
                        mention.workspace_id = %(workspace_id)s
                        AND mention.document_id = statement.document_id
                        AND mention.entity_id = statement.source_id
                        AND mention.entity_type = 'PERSON'
                )
            UNION ALL
            SELECT document.document_id
            FROM graphed_document AS document
            WHERE
                cardinality(statement.known_as) > 0
                AND document.workspace_id = %(workspace_id)s
                AND document.replaces && statement.known_as
                AND document.document_id <> statement.document_id
        ) AS later
        WHERE statement.method <> 'correction'
        ORDER BY later.document_id
        LIMIT 1
    ) AS closing ON true
),
changed AS (
    UPDATE relation_evidence AS found SET closed_by = judged.closer
    FROM judged
    WHERE
        found.workspace_id = %(workspace_id)s
        AND found.document_id = judged.document_id
        AND found.number = judged.number
        AND judged.closed_by IS DISTINCT FROM judged.closer
    RETURNING found.source_id, found.target_id
)
SELECT DISTINCT source_id, target_id FROM changed;
