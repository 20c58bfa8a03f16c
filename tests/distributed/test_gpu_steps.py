"""What a GPU will be asked, as far as that can be told without one: devices, and a step fit to be recorded.

No kernel runs here and nothing is timed; that the tokens are right on a GPU, only a run on one can say.
"""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses.fake_tensor import (  # noqa: E402
    DataDependentOutputException,
    FakeTensorDeviceMismatchError,
)

from core.models.hf_config import model_from_config  # noqa: E402
from core.two_way_tp.predictions import MINI_GPT  # noqa: E402
from distributed import collectives, grammar  # noqa: E402
from distributed.collectives import Group, TorchGroup  # noqa: E402
from distributed.decode import FixedStep, greedy  # noqa: E402
from distributed.job import make_job  # noqa: E402
from distributed.llama import Llama, LlamaSettings, RopeScaling  # noqa: E402
from distributed.measure import decode_graphed  # noqa: E402
from distributed.mini_gpt import MiniGPT  # noqa: E402
from distributed.tokenizer import prompt  # noqa: E402
from tests.distributed.gpu_stand_ins import GPU, Crossings, Recording, on_a_named_gpu  # noqa: E402
from tests.distributed.tiny_checkpoints import BASE, KINDS  # noqa: E402

SETTINGS = LlamaSettings(scaling=RopeScaling(8, 1, 4, 16))
MODELS = {"minigpt": MINI_GPT} | {
    kind: model_from_config(json.dumps(BASE | KINDS[kind]), kind)
    for kind in ("llama-untied-biased-stretched", "qwen3-normed-wide-heads")
}


class PairGroup(TorchGroup):
    """The first of two ranks, whose backend looks at what it is handed and sends nothing."""

    def __init__(self, backend: str) -> None:
        Group.__init__(self)
        self.rank, self.size, self.backend, self.peers = 0, 2, backend, None


@pytest.fixture
def sent_from(monkeypatch):
    """Where the payload of each collective lay."""
    places = []
    monkeypatch.setattr(collectives.dist, "all_reduce", lambda x, group: places.append(x.device.type))
    monkeypatch.setattr(collectives.dist, "all_gather", lambda shards, x, group: places.append(x.device.type))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    return places


def model_of(name, group):
    if name == "minigpt":
        return MiniGPT(MINI_GPT, group).eval()
    return Llama(MODELS[name], group, SETTINGS, BASE["max_position_embeddings"]).eval()


@pytest.mark.parametrize("backend", ["none", "nccl", "gloo"])
@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_of_a_prefill_and_of_a_step_is_on_the_gpu(name, backend, sent_from):
    """PyTorch's device propagation refuses what lies on two devices; sums go through the host only with Gloo."""
    spec = MODELS[name]
    with on_a_named_gpu(), torch.no_grad():
        model = model_of(name, Group() if backend == "none" else PairGroup(backend))
        fixed, cache = FixedStep(model), model.new_cache()
        for tokens in (5, 1):
            logits = model(torch.zeros(1, tokens, dtype=torch.int64), cache)
            assert (logits.device, logits.shape) == (GPU, (1, 1, spec.vocab_size))
        fixed.cache.take(cache)
        with Crossings() as crossings:
            logits = fixed(3)
        assert (logits.device, logits.shape) == (GPU, (1, 1, spec.vocab_size))
    collectives_a_pass = 2 * spec.num_hidden_layers + 2
    assert crossings.operations > 0
    if backend == "none":
        assert sent_from == crossings.between == []
        return
    assert sent_from == [{"nccl": "cuda", "gloo": "cpu"}[backend]] * 3 * collectives_a_pass
    there_and_back = 2 * collectives_a_pass
    assert len(crossings.between) == {"nccl": 0, "gloo": there_and_back}[backend]


def test_what_stays_on_the_host_is_refused_or_noticed():
    """The controls of the test above: tensors of two devices, a value read back, and a copy."""
    with on_a_named_gpu(), torch.no_grad():
        logits = torch.zeros(1, 4)
        with pytest.raises(FakeTensorDeviceMismatchError):
            logits + torch.zeros(4, device="cpu")
        with pytest.raises(DataDependentOutputException):
            logits.argmax().item()
        with Crossings() as crossings:
            logits.cpu()
    assert len(crossings.between) == 1


@pytest.fixture
def graphs_on_the_cpu(monkeypatch):
    """torch.cuda's graph, as a recording that the CPU replays."""
    stream = SimpleNamespace(wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda aside: nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Recording)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, capture_error_mode: graph)


@pytest.fixture(scope="module")
def model():
    torch.set_num_threads(1)
    return grammar.load()


def test_a_recorded_step_replayed_writes_what_decoding_writes(model, graphs_on_the_cpu):
    """Recorded once, used for ten sentences: nothing that changes with the token may be left in Python."""
    job = make_job(MINI_GPT.key)
    graphed = decode_graphed(model, job, steps=1)
    told = [greedy(model, given, job.longest, job.end) for given in job.prompts]
    assert graphed.tokens == [one.tokens for one in told]
    for logits, one in zip(graphed.logits, told, strict=True):
        assert torch.allclose(logits, torch.stack(one.logits), atol=1e-4)


def test_a_step_that_counts_in_python_replays_its_first_token_for_ever(model):
    """The control: with the cache that grows, a recording writes every token where the first one was."""
    cache = model.new_cache()
    token = torch.zeros(1, 1, dtype=torch.int64)
    with torch.inference_mode():
        model(torch.tensor([prompt("he goed to school")]), cache)
        with Recording() as recording:
            model(token, cache)
        kept = cache.store.clone()
        recording.replay()
    assert torch.equal(cache.store, kept)
