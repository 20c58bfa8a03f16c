"""The planner on the page: what it asks, draws and says."""
