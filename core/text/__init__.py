"""What somebody types or pastes: its lines, numbers and quantities, and the answer it is to a question."""
