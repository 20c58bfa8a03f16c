"""Ask: what it asks, reads and says."""
