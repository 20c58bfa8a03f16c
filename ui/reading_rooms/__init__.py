"""The reading rooms on the page: what it asks, draws and says."""
