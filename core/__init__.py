"""The arithmetic of Shardlab: pure functions over frozen rows. Standard library and numpy only."""
