"""What every figure shares."""
