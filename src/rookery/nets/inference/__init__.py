"""Fast inference: a network's forward pass on CPU threads or on a GPU."""
