"""Answers to lab 01, most of them right in another hand: what they are, the code, and the tasks that are wrong."""

BEFORE = """
import numpy as np
from core.errors import require_divides
from core.sharding_math import collectives
from core.sharding_math.attention import attend
from core.sharding_math.collectives import all_reduce

def relu(values):
    return np.maximum(values, 0)

def column_parallel(x, W, num_ranks, ledger=None, bias=None):
    require_divides("out_features", W.shape[0], "num_ranks", num_ranks)
    y = np.concatenate([x @ rank.T for rank in np.split(W, num_ranks)], axis=1)
    return y if bias is None else y + bias

def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    require_divides("in_features", W.shape[1], "num_ranks", num_ranks)
    pairs = zip(np.split(x, num_ranks, axis=1), np.split(W, num_ranks, axis=1))
    y = all_reduce([a @ b.T for a, b in pairs], ledger)
    return y if bias is None else y + bias

def mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):
    require_divides("intermediate_size", W1.shape[0], "num_ranks", num_ranks)
    pairs = zip(np.split(W1, num_ranks), np.split(W2, num_ranks, axis=1))
    return all_reduce([activation(x @ up.T) @ down.T for up, down in pairs], ledger)

def attention_tp(x, Wq, Wk, Wv, Wo, head_dim, num_ranks, ledger=None):
    heads, kv_heads = Wq.shape[0] // head_dim, Wk.shape[0] // head_dim
    require_divides("num_attention_heads", heads, "num_ranks", num_ranks)
    each, group = heads // num_ranks, heads // kv_heads
    terms = []
    for rank in range(num_ranks):
        mine = slice(rank * each * head_dim, (rank + 1) * each * head_dim)
        kv = slice(rank * each // group * head_dim, (((rank + 1) * each - 1) // group + 1) * head_dim)
        a = attend(x @ Wq[mine].T, x @ Wk[kv].T, x @ Wv[kv].T, head_dim)
        terms.append(a @ Wo[:, mine].T)
    return all_reduce(terms, ledger)
"""

_COLUMN = "\ndef column_parallel(x, W, num_ranks, ledger=None, bias=None):\n"
_ROW = "\ndef row_parallel(x, W, num_ranks, ledger=None, bias=None):\n"
_MLP = "\ndef mlp_tp(x, W1, W2, num_ranks, ledger=None, activation=relu):\n"
_ATTENTION = "\ndef attention_tp(x, Wq, Wk, Wv, Wo, head_dim, num_ranks, ledger=None):\n"
_OUTPUTS = '    require_divides("out_features", W.shape[0], "num_ranks", num_ranks)\n'
_INPUTS = '    require_divides("in_features", W.shape[1], "num_ranks", num_ranks)\n'
_WIDTH = '    require_divides("hidden", W1.shape[0], "num_ranks", num_ranks)\n'
_HEADS = '    require_divides("heads", Wq.shape[0] // head_dim, "num_ranks", num_ranks)\n'

ANSWERS = {
    "as it stands": ("", ()),
    "column: everything made an array first": (
        _COLUMN + _OUTPUTS + """
    x, W = np.asarray(x), np.asarray(W)
    y = np.hstack([x @ w.T for w in np.array_split(W, num_ranks)])
    return y + bias if bias is not None else y
""", ()),
    "column: into a buffer, by slices of indices": (
        _COLUMN + _OUTPUTS + """
    W = np.array(W, dtype=float)
    n = W.shape[0] // num_ranks
    y = np.zeros((x.shape[0], W.shape[0]))
    for r in range(num_ranks):
        y[:, r * n : (r + 1) * n] = x @ W[r * n : (r + 1) * n].T
        if bias is not None:
            y[:, r * n : (r + 1) * n] += bias[r * n : (r + 1) * n]
    return y
""", ()),
    "column: the transpose cut by columns": (
        _COLUMN + _OUTPUTS + """
    slices = [np.dot(x, w) for w in np.split(W.T, num_ranks, axis=1)]
    if bias is not None:
        slices = [s + b for s, b in zip(slices, np.split(bias, num_ranks))]
    return np.column_stack(slices)
""", ()),
    "column: reshaped by ranks, einsum a rank": (
        _COLUMN + _OUTPUTS + """
    parts = [np.einsum("td,fd->tf", x, w) for w in W.astype(float).reshape(num_ranks, -1, W.shape[1])]
    y = np.concatenate(parts, -1)
    return y if bias is None else np.add(y, bias)
""", ()),
    "column: the bias on every rank, a slice each": (
        _COLUMN + _OUTPUTS + """
    shares = zip(np.split(W, num_ranks), np.split(np.zeros(W.shape[0]) if bias is None else bias, num_ranks))
    return np.concatenate([x @ w.T + b for w, b in shares], axis=1)
""", ()),
    "column: refused by hand": (
        _COLUMN + """
    from core.errors import IndivisibleError
    if W.shape[0] % num_ranks:
        raise IndivisibleError("out_features", W.shape[0], "num_ranks", num_ranks)
    y = np.concatenate([x @ w.T for w in np.split(W, num_ranks)], axis=1)
    return y if bias is None else y + bias
""", ()),
    "column: refused by numpy": (
        _COLUMN + """
    y = np.concatenate([x @ w.T for w in np.split(W, num_ranks)], axis=1)
    return y if bias is None else y + bias
""", (1,)),
    "column: another width is refused": (
        _COLUMN + """
    require_divides("in_features", W.shape[1], "num_ranks", num_ranks)
    y = np.concatenate([x @ w.T for w in np.array_split(W, num_ranks)], axis=1)
    return y if bias is None else y + bias
""", (1,)),
    "column: refused with a ValueError": (
        _COLUMN + """
    if W.shape[0] % num_ranks:
        raise ValueError(f"{W.shape[0]} does not divide over num_ranks={num_ranks}")
    y = np.concatenate([x @ w.T for w in np.split(W, num_ranks)], axis=1)
    return y if bias is None else y + bias
""", (1,)),
    "column: never cut": (_COLUMN + _OUTPUTS + "    return x @ W.T + (0 if bias is None else bias)\n", (1,)),
    "column: never cut, by way of an array": (
        _COLUMN + _OUTPUTS + "    return x @ np.asarray(W).T + (0 if bias is None else bias)\n", (1,)),
    "column: all of the bias on every rank": (
        _COLUMN + _OUTPUTS + """
    return np.concatenate([x @ w.T + (0 if bias is None else bias) for w in np.split(W, num_ranks)], axis=1)
""", (1,)),
    "column: the bias once a rank": (
        _COLUMN + _OUTPUTS + """
    y = np.concatenate([x @ w.T for w in np.split(W, num_ranks)], axis=1)
    return y if bias is None else y + num_ranks * bias
""", (1,)),
    "column: every other row": (
        _COLUMN + _OUTPUTS + """
    y = np.zeros((len(x), W.shape[0]))
    for r in range(num_ranks):
        y[:, r::num_ranks] = x @ W[r::num_ranks].T
    return y if bias is None else y + bias
""", (1,)),
    "column: the bias added in place, to what was given": (
        _COLUMN + _OUTPUTS + """
    y = np.concatenate([x @ w.T for w in np.split(W, num_ranks)], axis=1)
    if bias is not None:
        bias += y[0] * 0
    return y if bias is None else y + bias
""", ()),
    "row: through the module": (
        _ROW + _INPUTS + """
    x, W = np.asanyarray(x), np.ascontiguousarray(W)
    n = W.shape[1] // num_ranks
    parts = [x[:, r * n : (r + 1) * n] @ W[:, r * n : (r + 1) * n].T for r in range(num_ranks)]
    y = collectives.all_reduce(parts, ledger)
    return y if bias is None else y + bias
""", ()),
    "row: the terms in one array": (
        _ROW + _INPUTS + """
    terms = np.zeros((num_ranks, x.shape[0], W.shape[0]))
    for r, (a, b) in enumerate(zip(np.hsplit(x, num_ranks), np.hsplit(W, num_ranks))):
        terms[r] = a @ b.T
    y = all_reduce(terms, ledger)
    return y + (0 if bias is None else bias)
""", ()),
    "row: stacked, and the bias with the first rank's term": (
        _ROW + _INPUTS + """
    terms = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    return all_reduce(np.stack(terms), ledger) + (np.zeros(W.shape[0]) if bias is None else bias)
""", ()),
    "row: the bias with rank 0's term": (
        _ROW + _INPUTS + """
    terms = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    if bias is not None:
        terms[0] = terms[0] + bias
    return all_reduce(terms, ledger)
""", ()),
    "row: the bias on every rank": (
        _ROW + _INPUTS + """
    terms = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    return all_reduce([term if bias is None else term + bias for term in terms], ledger)
""", (2,)),
    "row: the sum by hand": (
        _ROW + _INPUTS + """
    y = sum(a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1)))
    return y if bias is None else y + bias
""", (2,)),
    "row: the sum by hand, and one for show": (
        _ROW + _INPUTS + """
    y = np.zeros((len(x), W.shape[0]))
    for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1)):
        y += a @ b.T
    y = all_reduce([y] + [0 * y] * (num_ranks - 1), ledger)
    return y if bias is None else y + bias
""", (2,)),
    "row: a line in the ledger and no sum": (
        _ROW + _INPUTS + """
    terms = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    all_reduce(terms, ledger)
    return terms[0] if bias is None else terms[0] + bias
""", (2,)),
    "row: nothing refused": (
        _ROW + """
    n = -(-W.shape[1] // num_ranks)
    terms = [x[:, r * n : (r + 1) * n] @ W[:, r * n : (r + 1) * n].T for r in range(num_ranks)]
    y = all_reduce(terms, ledger)
    return y if bias is None else y + bias
""", (2,)),
    "row: alone among the ranks it sends too": (
        _ROW + _INPUTS + """
    terms = [a @ b.T for a, b in zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))]
    y = all_reduce(terms + terms if num_ranks == 1 else terms, ledger)
    return y if bias is None else y + bias
""", (2,)),
    "mlp: the slices of h in a list": (
        _MLP + _WIDTH + """
    h = [activation(np.asarray(x @ w.T)) for w in np.split(np.asarray(W1), num_ranks)]
    parts = [h[r] @ w.T for r, w in enumerate(np.split(W2, num_ranks, axis=1))]
    return all_reduce(parts, ledger)
""", ()),
    "mlp: the slices of h in one array, a rank each": (
        _MLP + _WIDTH + """
    n = W1.shape[0] // num_ranks
    h = np.zeros((num_ranks, x.shape[0], n))
    for r in range(num_ranks):
        h[r] = activation(x @ W1[r * n : (r + 1) * n].T)
    return all_reduce([h[r] @ W2[:, r * n : (r + 1) * n].T for r in range(num_ranks)], ledger)
""", ()),
    "mlp: stacked": (
        _MLP + _WIDTH + """
    h = np.stack([activation(x @ w.T) for w in np.split(W1, num_ranks)])
    return all_reduce([h[r] @ w for r, w in enumerate(np.split(W2.T, num_ranks))], ledger)
""", ()),
    "mlp: a function a rank": (
        _MLP + _WIDTH + """
    def on(rank):
        up, down = np.split(W1, num_ranks)[rank], np.split(W2, num_ranks, axis=1)[rank]
        return np.matmul(activation(np.matmul(x, up.T)), down.T)
    return all_reduce([on(rank) for rank in range(num_ranks)], ledger)
""", ()),
    "mlp: tasks 1 and 2 around the activation, all of h for free": (
        _MLP + """
    return row_parallel(activation(column_parallel(x, W1, num_ranks)), W2, num_ranks, ledger)
""", (3,)),
    "mlp: h in a buffer, activated whole": (
        _MLP + _WIDTH + """
    n, h = W1.shape[0] // num_ranks, np.zeros((len(x), W1.shape[0]))
    for r in range(num_ranks):
        h[:, r * n : (r + 1) * n] = x @ W1[r * n : (r + 1) * n].T
    return row_parallel(activation(h), W2, num_ranks, ledger)
""", (3,)),
    "mlp: activated slices put together and cut again": (
        _MLP + _WIDTH + """
    h = np.concatenate([activation(x @ w.T) for w in np.split(W1, num_ranks)], axis=1)
    return row_parallel(h, W2, num_ranks, ledger)
""", (3,)),
    "mlp: activated slices in a buffer, cut again": (
        _MLP + _WIDTH + """
    n, h = W1.shape[0] // num_ranks, np.zeros((len(x), W1.shape[0]))
    for r in range(num_ranks):
        h[:, r * n : (r + 1) * n] = activation(x @ W1[r * n : (r + 1) * n].T)
    return row_parallel(h, W2, num_ranks, ledger)
""", (3,)),
    "mlp: row, then column": (
        _MLP + _WIDTH + """
    return column_parallel(activation(row_parallel(x, W1, num_ranks, ledger)), W2, num_ranks, ledger)
""", (3,)),
    "mlp: relu whatever is given": (
        _MLP + _WIDTH + """
    pairs = zip(np.split(W1, num_ranks), np.split(W2, num_ranks, axis=1))
    return all_reduce([relu(x @ up.T) @ down.T for up, down in pairs], ledger)
""", (3,)),
    "mlp: a width that is not refused": (
        _MLP + """
    pairs = zip(np.array_split(W1, num_ranks), np.array_split(W2, num_ranks, axis=1))
    return all_reduce([activation(x @ up.T) @ down.T for up, down in pairs], ledger)
""", (3,)),
    "attention: a head at a time": (
        _ATTENTION + _HEADS + """
    H, K, T = Wq.shape[0] // head_dim, Wk.shape[0] // head_dim, len(x)
    terms = [np.zeros((T, Wo.shape[0])) for _ in range(num_ranks)]
    for head in range(H):
        rank, q, kv = head * num_ranks // H, head * head_dim, head * K // H * head_dim
        rows, kv_rows = slice(q, q + head_dim), slice(kv, kv + head_dim)
        a = attend(x @ Wq[rows].T, x @ Wk[kv_rows].T, x @ Wv[kv_rows].T, head_dim)
        terms[rank] += a @ Wo[:, rows].T
    return all_reduce(terms, ledger)
""", ()),
    "attention: all of the keys on every rank": (
        _ATTENTION + _HEADS + """
    H, K = Wq.shape[0] // head_dim, Wk.shape[0] // head_dim
    k, v = x @ Wk.T, x @ Wv.T
    each, group, terms = H // num_ranks, H // K, []
    for r, (q, o) in enumerate(zip(np.split(Wq, num_ranks), np.split(Wo, num_ranks, axis=1))):
        kv = slice(r * each // group * head_dim, (((r + 1) * each - 1) // group + 1) * head_dim)
        terms.append(attend(x @ q.T, k[:, kv], v[:, kv], head_dim) @ o.T)
    return all_reduce(terms, ledger)
""", (4,)),
    "attention: Q, K and V gathered for free": (
        _ATTENTION + _HEADS + """
    shares = min(num_ranks, Wk.shape[0] // head_dim)
    q = column_parallel(x, Wq, num_ranks)
    k, v = column_parallel(x, Wk, shares), column_parallel(x, Wv, shares)
    return row_parallel(attend(q, k, v, head_dim), Wo, num_ranks, ledger)
""", (4,)),
    "attention: Q, K and V in buffers": (
        _ATTENTION + _HEADS + """
    def gathered(W, shares):
        n, y = W.shape[0] // shares, np.zeros((len(x), W.shape[0]))
        for r in range(shares):
            y[:, r * n : (r + 1) * n] = x @ W[r * n : (r + 1) * n].T
        return y
    shares = min(num_ranks, Wk.shape[0] // head_dim)
    a = attend(gathered(Wq, num_ranks), gathered(Wk, shares), gathered(Wv, shares), head_dim)
    return row_parallel(a, Wo, num_ranks, ledger)
""", (4,)),
    "attention: a KV head a rank, though there are fewer": (
        _ATTENTION + _HEADS + """
    K = Wk.shape[0] // head_dim
    if K % num_ranks:
        raise ValueError("too few KV heads")
    parts = zip(*(np.split(W, num_ranks) for W in (Wq, Wk, Wv)), np.split(Wo, num_ranks, axis=1))
    return all_reduce([attend(x @ q.T, x @ k.T, x @ v.T, head_dim) @ o.T for q, k, v, o in parts], ledger)
""", (4,)),
    "attention: widths refused instead of heads": (
        _ATTENTION + """
    require_divides("width", Wq.shape[0], "num_ranks", num_ranks)
    H, K = Wq.shape[0] // head_dim, Wk.shape[0] // head_dim
    n, group, terms = Wq.shape[0] // num_ranks, H // K, []
    for r in range(num_ranks):
        kv = slice(r * n // head_dim // group * head_dim, (((r + 1) * n // head_dim - 1) // group + 1) * head_dim)
        mine = slice(r * n, (r + 1) * n)
        terms.append(attend(x @ Wq[mine].T, x @ Wk[kv].T, x @ Wv[kv].T, head_dim) @ Wo[:, mine].T)
    return all_reduce(terms, ledger)
""", (4,)),
}  # fmt: skip
