SELECT %(path)s::jsonpath::text
