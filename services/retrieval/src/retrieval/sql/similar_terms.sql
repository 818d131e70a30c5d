SELECT term, frequency FROM similar_terms(%(term)s, %(most)s)
