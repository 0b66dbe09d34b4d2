"""The doctor: what is wrong with a run, why, and which settings to change."""
