"""A lecture's room: what its learners predicted, on the wall."""
