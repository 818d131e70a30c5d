SELECT lane, name AS stage, count(*) AS depth, extract(epoch FROM now() - min(queued_at))::float8 AS oldest_seconds
FROM document_stage
WHERE status = 'queued' AND name IN ('convert', 'embed')
GROUP BY lane, name
