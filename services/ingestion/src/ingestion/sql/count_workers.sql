SELECT count(*) FROM worker WHERE seen_at > now() - make_interval(secs => %(lease)s)
