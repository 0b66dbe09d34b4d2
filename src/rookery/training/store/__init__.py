"""The run folder: settings, statistics, weights, checkpoint."""
