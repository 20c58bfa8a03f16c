"""A config's fields, checked as they are read."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import OutOfRangeError, shortened
from core.text.lines import object_in

Config = Mapping[str, object]
_MOST = 10**7
MOST_LAYERS = 4096
MOST_POSITIONS = 2**27


@dataclass(frozen=True)
class Values:
    """The fields of a config of one `kind`, under their usual names."""

    kind: str
    fields: Config

    def get(self, name: str) -> object:
        """The field as it is written; None where it is missing."""
        return self.fields.get(name)

    def require(self, *names: str) -> None:
        """Raise OutOfRangeError that names every field that is missing."""
        lacking = [name for name in names if name not in self.fields]
        if lacking:
            raise OutOfRangeError("model_type", self.kind, "config_lacks", lacking=", ".join(lacking))

    def whole(self, name: str, default: int | None = None, most: int = _MOST) -> int:
        """A whole number from 1; the default where the field is missing."""
        if default is None:
            self.require(name)
        value = self.fields.get(name, default)
        if isinstance(value, float) and value.is_integer() and value <= most:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise OutOfRangeError(name, shortened(value), "whole_in", least=1, most=most)
        return value

    def count(self, name: str, default: int = 0) -> int:
        """A whole number from 0; the default where the field is missing."""
        return 0 if self.fields.get(name, default) in (0, False) else self.whole(name, default)

    def flag(self, name: str, default: bool) -> bool:
        """True or false; the default where the field is missing."""
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise OutOfRangeError(name, shortened(value), "true_or_false")
        return value

    def listed(self, name: str, length: int) -> list[object] | None:
        """A list with something for each of `length` layers; None where the field is missing.

        A longer one also speaks of the layers that predict further tokens, which are left out.
        """
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not length <= len(value) <= MOST_LAYERS:
            raise OutOfRangeError(name, shortened(value), "list_of_layers", length=length)
        return value[:length]

    def inside(self, name: str) -> "Values":
        """The fields of an object that stands in a field; none of a missing one."""
        return Values(self.kind, object_in(self.fields.get(name)))

    def under(self, names: Mapping[str, str]) -> "Values":
        """The same with some fields taken from others, where those are written."""
        other = {usual: self.fields[own] for usual, own in names.items() if own in self.fields}
        return Values(self.kind, {**self.fields, **other}) if other else self

    def refuse_unknown_parts(self, fixed: Mapping[str, bool]) -> None:
        """Raise OutOfRangeError for a field that changes parameters in a way nobody here counts."""
        for name, value in fixed.items():
            if bool(self.fields.get(name, value)) != value:
                raise OutOfRangeError(name, shortened(self.fields[name]), "unknown_parts")
        narrow = self.fields.get("word_embed_proj_dim", self.fields["hidden_size"])
        if narrow != self.fields["hidden_size"]:
            raise OutOfRangeError("word_embed_proj_dim", shortened(narrow), "hidden_size")

    def head_dim(self, hidden: int, heads: int) -> int:
        """The width of a head: written, or the hidden size divided over the heads."""
        if "head_dim" in self.fields:
            return self.whole("head_dim")
        if hidden % heads:
            raise OutOfRangeError("hidden_size", hidden, "heads_divide", heads=heads)
        return hidden // heads
