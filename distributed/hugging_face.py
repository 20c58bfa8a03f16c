"""A local Hugging Face directory, config.json and safetensors, of which every rank reads only its own slices.

The shapes of Llama and of Qwen 2 and 3; others are refused by name, and so are windows, experts and quantised
weights. Weights are kept in fp32 on every rank, whatever width the files have: two ranks add in another order than
one, and in fp32 that moves no token.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import ShardlabError
from core.models.hf_config import model_from_config
from core.specs import ModelSpec
from distributed.checkpoint import CheckpointError, open_file, slice_of
from distributed.collectives import Group
from distributed.layers import fill
from distributed.llama import Llama, LlamaSettings, RopeScaling

KINDS = ("llama", "qwen2", "qwen3")
MAX_TOKENS = 256
"""Tokens a run makes room for; the models allow many more."""

ONE_FILE, INDEX = "model.safetensors", "model.safetensors.index.json"


@dataclass(frozen=True)
class ModelDirectory:
    """A directory as it was read: the shape, the settings, and which of its files holds which tensor."""

    path: Path
    spec: ModelSpec
    settings: LlamaSettings
    files: Mapping[str, str]

    def model(self, group: Group) -> Llama:
        """This rank's part of the model, its weights read."""
        model = Llama(self.spec, group, self.settings, min(MAX_TOKENS, self.spec.max_position_embeddings)).eval()
        load_sharded(model, self)
        return model


def read_directory(path: Path) -> ModelDirectory:
    """What a directory holds; no weight is read.

    Raises ShardlabError for a config that is missing or of another shape, CheckpointError for files that are not
    what their index says.
    """
    config = _json(path / "config.json")
    kind = config.get("model_type")
    if kind not in KINDS:
        raise ShardlabError("load.shape", kind=kind, known=", ".join(KINDS))
    _refuse(config)
    spec = model_from_config(json.dumps(config), path.name)
    return ModelDirectory(path, replace(spec, name=path.name, weight_dtype="fp32"), _settings(config), _files(path))


def load_sharded(model: Llama, directory: ModelDirectory) -> int:
    """Fill every parameter of this rank's model with its slice of the files; return the bytes read.

    Raises CheckpointError when a tensor is missing or has another shape.
    """
    read = 0
    with _opened(directory) as files:
        for name, parameter in model.named_parameters():
            stored = name if name.startswith("lm_head") else f"model.{name}"
            if stored not in directory.files:
                raise CheckpointError("checkpoint.no_tensor", file=directory.path.name, name=stored)
            part = slice_of(files[directory.files[stored]].get_slice(stored), stored, parameter, model.group.rank)
            fill(parameter, part)
            read += part.nbytes
    return read


@contextmanager
def _opened(directory: ModelDirectory) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        names = sorted(set(directory.files.values()))
        yield {name: stack.enter_context(open_file(directory.path / name)) for name in names}


def _files(path: Path) -> dict[str, str]:
    """Which file holds which tensor: by the index, or all in the one file. A file lies in the directory itself."""
    if (path / ONE_FILE).is_file():
        with open_file(path / ONE_FILE) as file:
            return dict.fromkeys(file.keys(), ONE_FILE)
    places = _json(path / INDEX).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise CheckpointError("checkpoint.no_weight_map", index=INDEX)
    for name in sorted(set(places.values())):
        if Path(name).name != name or not (path / name).is_file():
            raise CheckpointError("checkpoint.no_such_file", index=INDEX, name=name[:80], folder=path.name)
    return places


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(
            "checkpoint.missing", name=path.name, folder=path.parent.name, error=error.strerror
        ) from error
    except ValueError as error:
        raise CheckpointError("checkpoint.no_json", name=path.name, folder=path.parent.name, error=error) from error
    if not isinstance(values, dict):
        raise CheckpointError("checkpoint.no_object", name=path.name, folder=path.parent.name)
    return values


def _refuse(config: Mapping[str, Any]) -> None:
    """Raise ShardlabError for what these layers would compute wrongly and in silence."""
    if config.get("quantization_config"):
        raise ShardlabError("load.quantized")
    if config.get("use_sliding_window"):
        raise ShardlabError("load.window")
    if config.get("hidden_act", "silu") != "silu":
        raise ShardlabError("load.activation", kind=config["hidden_act"])


def _settings(config: Mapping[str, Any]) -> LlamaSettings:
    """Norm and positions. `rope_parameters` holds in newer files what stood in `rope_theta` and `rope_scaling`."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    theta = rope.get("rope_theta", config.get("rope_theta", 10_000.0))
    if kind not in ("default", "llama3"):
        raise ShardlabError("load.rope", kind=kind, a="default", b="llama3")
    scaling = None
    if kind == "llama3":
        try:
            scaling = RopeScaling(
                float(rope["factor"]),
                float(rope["low_freq_factor"]),
                float(rope["high_freq_factor"]),
                int(rope["original_max_position_embeddings"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ShardlabError("load.rope_lacks", kind="llama3", error=error) from error
    return LlamaSettings(float(config.get("rms_norm_eps", 1e-6)), float(theta), scaling)
