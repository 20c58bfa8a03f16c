"""Lab 03 as a good student writes it."""


def allreduce_payload_bytes(tokens, hidden_size, bytes_per_element=2):
    return tokens * hidden_size * bytes_per_element


def ring_allreduce_traffic_per_rank(payload_bytes, ranks):
    return 2 * (ranks - 1) / ranks * payload_bytes


def allreduce_time_s(payload_bytes, ranks, link):
    waits = 2 * (ranks - 1) * link.latency_s
    return waits + ring_allreduce_traffic_per_rank(payload_bytes, ranks) / link.bandwidth_bytes_per_s


def tp_comm_time_per_step(model, tokens, tp_size, link):
    payload = allreduce_payload_bytes(tokens, model.hidden_size)
    return 2 * model.num_hidden_layers * allreduce_time_s(payload, tp_size, link)


def comm_fraction(comm_s, step_s):
    return comm_s / (comm_s + step_s)
