"""Errors of evaluations."""

from __future__ import annotations


class BadDataset(ValueError):
    """A data set, a question file or a saved result cannot be read; the message says where and why."""
