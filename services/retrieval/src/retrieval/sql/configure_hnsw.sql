SELECT set_config('hnsw.max_scan_tuples', %(most_visited)s::text, true),
       set_config('hnsw.ef_search', %(candidates)s::text, true),
       set_config('enable_sort', %(sorting)s, true),
       set_config('plan_cache_mode', %(planning)s, true)
