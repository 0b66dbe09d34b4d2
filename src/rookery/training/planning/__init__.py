"""The planner: measures the machine and proposes the settings of a run."""
