"""The contract of a game: checks that a rules module keeps, and the message when it does not."""
