"""Training on many GPUs: memory, activations and traffic of each way to split it, and which is chosen and why."""
