"""Rookery as an engine in chess programs, by the Universal Chess Interface.

Chess programs want an answer to `uci` at once, so `inbox` and `options` import nothing heavy.
"""
