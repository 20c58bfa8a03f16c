"""Puzzles: place the cuts and the collectives until every rank holds what it should, for the fewest bytes."""
