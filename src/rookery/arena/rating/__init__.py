"""Ratings: Elo with intervals, ladders of opponents, and how a player is rated on one."""
