"""Choosing a strategy: what trains or serves a model best on a cluster, why, and what would change the answer.

training        every composition over a cluster's GPUs: does it fit, how long is its step
picker          one answer for a question, to train or to serve, with its trace
flips           the nearest change of one input that changes the answer
block           one transformer block under each strategy: what every rank holds, and where the ranks talk
mermaid         the same as Mermaid text
rooms           the collectives message by message, and who uses which
disaggregation  prefill and decode on GPUs of their own: what moves between them, and when it pays
"""
