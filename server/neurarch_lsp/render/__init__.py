"""Findings and numbers as text: every output is made from the same values."""
