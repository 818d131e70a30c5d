"""Embedding spaces: a workspace can have the vectors of several models, and is searched in one of them."""
