"""Modules that are ours instead of being read from disk: one file a library (or a few small ones together)."""
