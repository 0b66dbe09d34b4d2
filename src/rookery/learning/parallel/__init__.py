"""Learning by several ranks that share every batch (DDP) or average their weights (local SGD)."""
