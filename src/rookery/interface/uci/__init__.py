"""Rookery as an engine for chess programs: the Universal Chess Interface (UCI).

Chess programs expect an answer to `uci` at once, so `command_queue` and `options` import neither
torch nor Numba.
"""
