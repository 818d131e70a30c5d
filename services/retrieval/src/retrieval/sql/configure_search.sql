-- For this transaction: a plan for the actual values (a partial index needs them), no JIT start-up, a time limit.
-- With `export` the name by which other transactions see the same state.
SELECT
    set_config('plan_cache_mode', 'force_custom_plan', true),
    set_config('jit', 'off', true),
    set_config('work_mem', '32MB', true),
    set_config('statement_timeout', %(milliseconds)s::text, true),
    set_config('hnsw.ef_search', %(ef_search)s::text, true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '100000', true),
    CASE WHEN %(export)s THEN pg_export_snapshot() END AS exported
