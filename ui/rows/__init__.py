"""What a figure draws: core's results as rows, named and put into words."""
