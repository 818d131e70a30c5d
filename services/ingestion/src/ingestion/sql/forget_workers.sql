DELETE FROM worker WHERE seen_at < now() - make_interval(secs => %(after)s)
