"""The puzzles on the page: what they are called, and what the board is told."""
