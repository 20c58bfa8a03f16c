"""The log reader on the page: what it asks, draws and says."""
