"""Lab 01 on the page: what it asks, draws and says."""
