"""How well a text answers words: terms, BM25, wordpieces and near-duplicates. No IO but the files of the package."""
