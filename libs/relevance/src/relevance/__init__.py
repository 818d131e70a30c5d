"""Compares texts: terms, BM25, wordpieces and near-duplicates. No IO except for its own files and the tokenizer's."""
