"""Grading a lab: its tasks, probes with hidden inputs, questions with a student's own numbers, and reports.

tasks      what is to be written, and its points
probes     calls of a submission with inputs drawn from a seed, and what must come back
questions  what a student works out by hand, with numbers nobody else has
report     a grade as text, JUnit and Gradescope's results.json
"""
