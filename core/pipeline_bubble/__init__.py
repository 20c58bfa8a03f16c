"""Lab 04: stages, microbatches and the time they leave idle."""
