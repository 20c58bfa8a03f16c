"""A model from its config: parameters, KV cache, the weights a rank holds."""
