"""Evaluation of players: matches and strength tests, in parts that other processes can run."""
