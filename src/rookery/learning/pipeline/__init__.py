"""Learning by several ranks that hold one part of the network each."""
