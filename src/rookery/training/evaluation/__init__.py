"""Matches and strength tests, in this process or over evaluation workers."""
