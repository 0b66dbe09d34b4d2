"""Ratings: Elo differences with intervals, ladders of opponents, and the rating of a player."""
