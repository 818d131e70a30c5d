-- After the statistics, whose row one writer at a time has.
INSERT INTO workspace_stemming AS known (workspace_id, stemming, documents)
SELECT %(workspace_id)s, stemming, change
FROM unnest(%(stemmings)s::text[], %(changes)s::bigint[]) AS changed (stemming, change)
ON CONFLICT (workspace_id, stemming) DO UPDATE SET documents = known.documents + excluded.documents
