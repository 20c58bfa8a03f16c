"""Lab 02 on the page: what it asks, draws and says."""
