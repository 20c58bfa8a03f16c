"""Collectives: closed forms, programs run message by message, a clock, and an engine's own kernels."""
