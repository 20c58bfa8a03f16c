"""Lab 03 on the page: what it asks, draws and says."""
