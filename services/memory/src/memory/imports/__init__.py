"""Imports of conversations."""
