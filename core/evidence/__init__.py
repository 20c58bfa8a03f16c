"""What others published and measured, and how far the models are from it."""
