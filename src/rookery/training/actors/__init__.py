"""Actors: processes that play games for the learner."""
