"""Exact solvers, and Connect Four positions that were solved in advance."""
