"""The lexical leg: postings, and BM25 over them."""
