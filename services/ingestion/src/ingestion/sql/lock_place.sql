-- Serialises what is done about one place, also before it has a row.
SELECT pg_advisory_xact_lock(
    hashtextextended(concat_ws('/', %(workspace_id)s::text, %(source_id)s::text, %(kind)s::text, %(path)s::text), 1)
)
