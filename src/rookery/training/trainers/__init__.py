"""Trainers: processes that learn together."""
