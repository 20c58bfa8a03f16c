"""MiniGPT once more, in plain torch modules, cut by PyTorch's own `parallelize_module`: a second implementation.

The model knows nothing of ranks; the plan beside it does. Every collective is DTensor's.
"""

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from core.specs import ModelSpec
from distributed.checkpoint import CHECKPOINT


class Attention(nn.Module):
    """Causal attention over as many heads as the projections give."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        d = spec.hidden_size
        self.head_dim = spec.head_dim
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))
        self.past: tuple[Tensor, Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            project(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.past is not None:
            k, v = torch.cat((self.past[0], k), 2), torch.cat((self.past[1], v), 2)
        self.past = k, v
        y = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    """Two linear layers around a GELU."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        self.up_proj = nn.Linear(spec.hidden_size, spec.intermediate_size)
        self.down_proj = nn.Linear(spec.intermediate_size, spec.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.gelu(self.up_proj(x)))


class Layer(nn.Module):
    """Attention and MLP, each behind a norm and around a residual."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        self.input_layernorm = nn.LayerNorm(spec.hidden_size)
        self.self_attn = Attention(spec)
        self.post_attention_layernorm = nn.LayerNorm(spec.hidden_size)
        self.mlp = MLP(spec)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class PlainGPT(nn.Module):
    """GPT-2's shape, whole. The head is a linear layer with the embedding's weights."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(spec.vocab_size, spec.hidden_size)
        self.embed_positions = nn.Embedding(spec.learned_positions, spec.hidden_size)
        self.layers = nn.ModuleList(Layer(spec) for _ in range(spec.num_hidden_layers))
        self.norm = nn.LayerNorm(spec.hidden_size)
        self.lm_head = nn.Linear(spec.hidden_size, spec.vocab_size, bias=False)
        self.length = 0

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of the last token; keys and values are kept from call to call."""
        positions = torch.arange(self.length, self.length + tokens.shape[1])
        x = self.embed_tokens(tokens) + self.embed_positions(positions)
        for layer in self.layers:
            x = layer(x)
        self.length += tokens.shape[1]
        return self.lm_head(self.norm(x[:, -1:]))

    def forget(self) -> None:
        """Begin a new sentence."""
        self.length = 0
        for layer in self.layers:
            layer.self_attn.past = None


PLAN = {
    "embed_tokens": RowwiseParallel(input_layouts=Replicate()),
    "lm_head": ColwiseParallel(output_layouts=Replicate()),
    "layers.*.self_attn.q_proj": ColwiseParallel(),
    "layers.*.self_attn.k_proj": ColwiseParallel(),
    "layers.*.self_attn.v_proj": ColwiseParallel(),
    "layers.*.self_attn.o_proj": RowwiseParallel(),
    "layers.*.mlp.up_proj": ColwiseParallel(),
    "layers.*.mlp.down_proj": RowwiseParallel(),
}


def cut(module: nn.Module, ranks: int, plan: dict[str, str]) -> nn.Module:
    """A module whose named linear layers are cut over the ranks by columns or by rows."""
    ways = {"columns": ColwiseParallel(), "rows": RowwiseParallel()}
    return parallelize_module(
        module, init_device_mesh("cpu", (ranks,)), {name: ways[how] for name, how in plan.items()}
    )


def dtensor_gpt(spec: ModelSpec, ranks: int) -> PlainGPT:
    """The shipped checkpoint in plain modules, cut over the ranks by DTensor."""
    model = PlainGPT(spec).eval()
    stored = load_file(CHECKPOINT)
    model.load_state_dict({**stored, "lm_head.weight": stored["embed_tokens.weight"]})
    return parallelize_module(model, init_device_mesh("cpu", (ranks,)), PLAN)


@torch.no_grad()
def written(model: PlainGPT, prompt: list[int], steps: int, end: int) -> tuple[list[int], list[Tensor]]:
    """Greedy decoding: tokens and their logits."""
    model.forget()
    step, tokens, logits = torch.tensor([prompt]), [], []
    while len(tokens) < steps:
        logits.append(model(step)[0, -1])
        tokens.append(int(logits[-1].argmax()))
        if tokens[-1] == end:
            break
        step = torch.tensor([[tokens[-1]]])
    return tokens, logits
