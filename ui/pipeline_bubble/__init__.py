"""Lab 04 on the page: what it asks, draws and says."""
