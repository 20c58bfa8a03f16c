"""Training on many GPUs: memory, activations and traffic of each way to split it."""
