"""The quiz on the page: what it asks, draws and says."""
