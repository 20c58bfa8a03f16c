"""A room of people as a cluster: a ring that is passed by hand, and α and β of it."""
