"""MiniGPT's checkpoint: one safetensors file, of which every rank reads only its own slices."""

import hashlib
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.errors import ShardlabError
from distributed.decoder import Decoder
from distributed.layers import fill, full_shape, part_of

SUMS = "SHA256SUMS.txt"
"""Beside a checkpoint, as `sha256sum --check` reads it."""
CHECKPOINT = Path(__file__).parent.parent / "data" / "checkpoints" / "minigpt-grammar.safetensors"


class CheckpointError(ShardlabError):
    """A checkpoint that is not there, or not of the model that was asked for."""


def save(model: Decoder, path: Path, metadata: dict[str, str]) -> None:
    """Write an unsharded model. `metadata` says how it was made."""
    tensors = {name: parameter.detach().contiguous() for name, parameter in model.named_parameters()}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata)
    sums = {**_sums(path), path.name: sha256(path)}
    path.with_name(SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))


def require(path: Path) -> None:
    """Raise CheckpointError when no file is at `path`, none of safetensors, or not the one of its checksum."""
    if not path.is_file():
        raise CheckpointError("checkpoint.none", name=path.name, folder=path.parent.name)
    open_file(path)  # its head says how long it is, so that a cut one is told before anything is started
    if path.name in (sums := _sums(path)) and sums[path.name] != sha256(path):
        raise CheckpointError("checkpoint.other_file", name=path.name, sums=SUMS)


def open_file(path: Path) -> Any:
    """A safetensors file, open for reading slices. It is never unpickled, whatever it is named.

    Raises CheckpointError where it cannot be read.
    """
    try:
        return safe_open(path, framework="pt")
    except (OSError, SafetensorError) as error:
        raise CheckpointError("checkpoint.no_safetensors", name=path.name, error=error) from error


def load_sharded(model: Decoder, path: Path = CHECKPOINT) -> int:
    """Fill every parameter of this rank's model with its slice of the file; return the bytes read.

    A parameter cut along dim d takes rows r·n to (r+1)·n of it; what lies beyond the end is padding and zero.

    Raises CheckpointError when the file is missing or no whole one, lacks a tensor or holds one of another shape.
    """
    require(path)
    read = 0
    with open_file(path) as file:
        for name, parameter in model.named_parameters():
            if name not in file.keys():  # noqa: SIM118 - not a dict
                raise CheckpointError("checkpoint.no_tensor", file=path.name, name=name)
            part = slice_of(file.get_slice(name), name, parameter, model.group.rank)
            fill(parameter, part)
            read += part.nbytes
    return read


def metadata(path: Path = CHECKPOINT) -> dict[str, str]:
    with open_file(path) as file:
        return file.metadata() or {}


def _sums(path: Path) -> dict[str, str]:
    """The checksums that stand beside a checkpoint, by its name."""
    file = path.with_name(SUMS)
    lines = file.read_text().splitlines() if file.is_file() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def sha256(path: Path = CHECKPOINT) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def slice_of(stored: Any, name: str, parameter: nn.Parameter, rank: int) -> Tensor:
    """A rank's part of a stored tensor, read from its file: the one its cut names, else the rank's own.

    Raises CheckpointError where the tensor has another shape than the parameter is a part of.
    """
    _require_shape(name, stored.get_shape(), full_shape(parameter))
    return stored[part_of(parameter, rank)]


def _require_shape(name: str, stored: list[int], wanted: list[int]) -> None:
    if stored != wanted:
        raise CheckpointError("checkpoint.other_shape", name=name, stored=stored, wanted=wanted)
