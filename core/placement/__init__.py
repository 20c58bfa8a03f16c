"""Placing a model on a cluster: every way to cut it, what each rank's memory holds, and what each way gives.

cluster      the GPUs, which of them share NVLink, the NICs
layout       TP × PP × replicas, and for a mixture data-parallel attention with expert parallelism
rank_memory  the engine's identity for each rank, every part of it
steps        time to the first token and between tokens
planner      every layout judged, the front, the choice
trace        the choice in words, and why each other lost
serve_flags  the plan as an engine's command line
topology     `nvidia-smi topo -m` read into a cluster
"""
