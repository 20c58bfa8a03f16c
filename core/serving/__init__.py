"""An engine under load: a seeded simulator, and benchmark results read back."""
