"""The strategy page on the page: what it asks, draws and says."""
