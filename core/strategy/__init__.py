"""Choosing a strategy: what trains or serves a model best on a cluster, why, and what would change the answer.

training        what each way to split training holds and sends, and every composition over a cluster's GPUs
picker          one answer for a question, to train or to serve, with its trace
flips           the nearest change of one input that changes the answer
block           one transformer block under each strategy: what every rank holds, and where the ranks talk
rooms           the collectives message by message, and who uses which
disaggregation  prefill and decode on GPUs of their own: what moves between them, and when it pays
"""
