"""Altair charts: a tidy frame in, a chart out."""
