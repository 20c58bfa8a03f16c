"""Lab 03: what the collectives of one step cost on a link."""
