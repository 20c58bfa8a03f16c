"""Hugging Face directories of every shape that is loaded: slices read, bytes held, tokens and logits on real ranks.

The oracle is tests/distributed/dense_llama.py, a second implementation in numpy and float64.
"""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from core.errors import IndivisibleError, ShardlabError, UnknownNameError  # noqa: E402
from core.models.kv_cache import kv_bytes_per_token_per_rank  # noqa: E402
from core.models.parameters import total_parameters  # noqa: E402
from core.two_way_tp.predictions import weights_per_rank  # noqa: E402
from distributed import checkpoint  # noqa: E402
from distributed.checkpoint import CheckpointError  # noqa: E402
from distributed.collectives import Group  # noqa: E402
from distributed.decode import FixedStep, greedy  # noqa: E402
from distributed.hugging_face import load_sharded, read_directory  # noqa: E402
from distributed.job import make_job  # noqa: E402
from distributed.layers import cut_of  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402
from tests.distributed import dense_llama  # noqa: E402
from tests.distributed.tiny_checkpoints import BASE, KINDS, write  # noqa: E402

PROMPT = [3, 14, 15, 9, 26]
STEPS = 12


def rank_of(rank, size):
    group = Group()
    group.rank, group.size = rank, size
    return group


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """One directory a kind, the second kind in three files."""
    root = tmp_path_factory.mktemp("models")
    return {kind: write(kind, root / kind, 3 if number == 1 else 1) for number, kind in enumerate(KINDS)}


@pytest.fixture(scope="module")
def on_two_ranks(folders, tmp_path_factory):
    """Every kind decoded by two real ranks over Gloo: tokens, logits, weight and cache bytes, by rank."""
    told = tmp_path_factory.mktemp("told") / "where.py"
    told.write_text(f"FOLDERS = { {kind: str(path) for kind, path in folders.items()}!r}\n")
    return run_ranks(2, Path(__file__), decoded.__name__, told)


def decoded(told, group):
    """On a rank: what it decodes of each directory, and what it allocated for it."""
    found = {}
    for kind, folder in told.FOLDERS.items():
        model = read_directory(Path(folder)).model(group)
        group.forget()
        out = greedy(model, PROMPT, STEPS)
        sums = group.ledger.count("all_reduce") / STEPS
        kv_bytes = model.new_cache().nbytes
        found[kind] = (out.tokens, torch.stack(out.logits).tolist(), model.weights_bytes, kv_bytes, sums)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_one_rank_scores_as_the_dense_model_does(folders, kind):
    """Prefill and every cached step after it, against a pass over the whole text in float64."""
    model = read_directory(folders[kind]).model(Group())
    out = greedy(model, PROMPT, STEPS)
    dense = dense_llama.logits(folders[kind], PROMPT + out.tokens[:-1])[len(PROMPT) - 1 :]
    assert np.abs(torch.stack(out.logits).numpy() - dense).max() < 1e-4 * np.abs(dense).max()
    assert out.tokens == dense.argmax(-1).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_one_shape_scores_the_same(folders, kind):
    """Rotary positions, repeated heads and all, by a mask over the whole cache."""
    model = read_directory(folders[kind]).model(Group())
    grown, told = greedy(model, PROMPT, STEPS), greedy(model, PROMPT, STEPS, fixed=FixedStep(model))
    assert told.tokens == grown.tokens
    assert torch.allclose(torch.stack(told.logits), torch.stack(grown.logits), atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_two_ranks_write_the_same_tokens_and_score_alike(folders, on_two_ranks, kind):
    one = greedy(read_directory(folders[kind]).model(Group()), PROMPT, STEPS)
    for rank in on_two_ranks:
        tokens, logits, *_ = rank[kind]
        assert tokens == one.tokens
        assert np.abs(np.array(logits) - torch.stack(one.logits).numpy()).max() < 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_every_rank_holds_to_the_byte_what_core_predicts(folders, on_two_ranks, kind):
    """Weights and cache as allocated on two real ranks; and 2L + 1 sums a step."""
    spec = read_directory(folders[kind]).spec
    for rank in on_two_ranks:
        _, _, weights_bytes, kv_bytes, sums = rank[kind]
        assert weights_bytes == weights_per_rank(spec, 2).bytes
        assert kv_bytes == kv_bytes_per_token_per_rank(spec, 2, "fp32") * spec.max_position_embeddings
        assert sums == 2 * spec.num_hidden_layers + 1


@pytest.mark.parametrize("tp_size", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_the_slices_that_ranks_hold_make_the_checkpoint(folders, kind, tp_size):
    """Parts joined, padding cut off; a repeated KV head is the same on the ranks that share it."""
    directory, stored = read_directory(folders[kind]), dense_llama.weights(folders[kind])
    ranks = [directory.model(rank_of(rank, tp_size)) for rank in range(tp_size)]
    assert sum(tensor.size for tensor in stored.values()) == total_parameters(directory.spec)
    for name, _ in ranks[0].named_parameters():
        tensor = stored[name if name.startswith("lm_head") else f"model.{name}"]
        joined = joined_parts([model.get_parameter(name) for model in ranks], tensor.shape)
        assert np.array_equal(joined.detach().numpy(), tensor.astype(np.float32)), name


def joined_parts(parts, shape):
    """The ranks' parts of one tensor put together, those that several ranks hold once, each being the same."""
    if cut_of(parts[0]) is None:
        assert all(torch.equal(part, parts[0]) for part in parts)
        return parts[0]
    dim, by_shard = cut_of(parts[0]).dim, {}
    for rank, part in enumerate(parts):
        shard = rank if cut_of(part).shard is None else cut_of(part).shard
        assert torch.equal(by_shard.setdefault(shard, part), part)
    return torch.cat(list(by_shard.values()), dim).narrow(dim, 0, shape[dim])


class Counting:
    """A file that counts the bytes of every slice that is taken from it, and gives no tensor whole by name."""

    def __init__(self, file, counts):
        self.file, self.counts = file, counts

    def get_slice(self, name):
        counts, stored = self.counts, self.file.get_slice(name)

        class Slice:
            def get_shape(self):
                return stored.get_shape()

            def __getitem__(self, cut):
                part = stored[cut]
                counts.append(part.nbytes)
                return part

        return Slice()


@pytest.mark.parametrize("kind", KINDS)
def test_a_rank_reads_its_slices_and_nothing_else(folders, kind, monkeypatch):
    """Counted at the file: as many bytes as the rank holds, less its rows of padding, which no file has."""
    directory, whole_open = read_directory(folders[kind]), checkpoint.safe_open
    counts = []

    class Opened:
        def __init__(self, *arguments, **options):
            self.opened = whole_open(*arguments, **options)

        def __enter__(self):
            return Counting(self.opened.__enter__(), counts)

        def __exit__(self, *error):
            return self.opened.__exit__(*error)

    monkeypatch.setattr(checkpoint, "safe_open", Opened)
    for rank in range(2):
        counts.clear()
        model = directory.model(rank_of(rank, 2))
        tables = 1 if directory.spec.tie_word_embeddings else 2
        padding_bytes = tables * rank * directory.spec.hidden_size * 4
        assert sum(counts) == model.weights_bytes - padding_bytes
        assert sum(counts) == load_sharded(model, directory)


def test_a_half_width_checkpoint_is_kept_in_full_width(tmp_path):
    """bf16 in the file is fp32 in memory; half as many bytes are read as are held."""
    from safetensors.torch import load_file, save_file

    folder = write("llama-tied", tmp_path / "bf16")
    path = folder / "model.safetensors"
    save_file({name: tensor.bfloat16() for name, tensor in load_file(path).items()}, path)
    directory = read_directory(folder)
    model = directory.model(Group())
    assert model.weights_bytes == weights_per_rank(directory.spec, 1).bytes
    assert load_sharded(model, directory) == model.weights_bytes // 2


def changed(folder, **config):
    (folder / "config.json").write_text(json.dumps({**BASE, **KINDS["llama-tied"], **config}))
    return folder


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "mamba"}, "model_type=mamba is not of a shape that a run can load; use one of llama"),
        ({"model_type": "mixtral"}, "model_type=mixtral"),
        ({"quantization_config": {"quant_method": "awq"}}, "quantized weights cannot be loaded"),
        ({"use_sliding_window": True}, "attention over a window"),
        ({"hidden_act": "gelu"}, "hidden_act=gelu is not silu"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "rope_type=yarn is not written here"),
        ({"rope_scaling": {"rope_type": "llama3"}}, "the llama3 rope lacks what it needs"),
        ({"hidden_size": "wide"}, "hidden_size"),
    ],
)
def test_what_would_be_computed_wrongly_is_refused_by_name(tmp_path, config, message):
    with pytest.raises(ShardlabError, match=message):
        read_directory(changed(write("llama-tied", tmp_path / "model"), **config))


def test_another_shape_than_the_files_hold_is_refused(tmp_path):
    directory = read_directory(changed(write("llama-tied", tmp_path / "model"), intermediate_size=64))
    with pytest.raises(CheckpointError, match=r"gate_proj.weight is \[48, 32\] in the checkpoint and \[64, 32\]"):
        directory.model(Group())


def test_heads_that_do_not_divide_are_refused(folders):
    with pytest.raises(IndivisibleError, match="num_attention_heads=4 does not divide over tp_size=3"):
        read_directory(folders["llama-one-kv-head"]).model(rank_of(0, 3))


@pytest.mark.parametrize("lost", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path, lost):
    folder = write("llama-tied", tmp_path / "model")
    (folder / lost).unlink()
    with pytest.raises(CheckpointError, match=f"no {lost}"):
        read_directory(folder)


@pytest.mark.parametrize("place", ["../model.safetensors", "/etc/passwd", "gone.safetensors", 7])
def test_an_index_leads_to_no_other_folder(tmp_path, place):
    folder = write("llama-tied", tmp_path / "model", files=2)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"model.norm.weight": place}}))
    with pytest.raises(CheckpointError):
        read_directory(folder)


def test_a_file_cut_short_is_no_checkpoint(tmp_path):
    folder = write("llama-tied", tmp_path / "model")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match=r"cannot read model\.safetensors"):
        read_directory(folder)


def test_a_name_that_is_neither_a_model_nor_a_folder_is_refused_with_what_there_is():
    with pytest.raises(UnknownNameError, match=r"no model of lab 02 named 'gpt-5'; .*one of: minigpt-grammar"):
        make_job("gpt-5")
