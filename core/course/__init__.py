"""The course itself: quiz, grading, reading rooms, and where it starts."""
