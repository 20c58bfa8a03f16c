"""Start here on the page: what it asks, draws and says."""
