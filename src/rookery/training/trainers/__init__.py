"""Trainers: processes that make the updates of a learner together."""
