"""One step of a model on a GPU: the roofline, its batch, and the slowest rank."""
