"""What a shell completes: commands, their flags, and the names that a flag takes. Written from the parsers."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.catalog import GPUS, LINKS, MODELS

SHELLS = ("bash", "zsh", "fish")
_NAMES: Mapping[str, Mapping[str, object]] = {"model": MODELS, "gpu": GPUS, "link": LINKS, "network": LINKS}


@dataclass(frozen=True)
class Flag:
    """One flag; `values` are what it takes, none where that is a number or a file."""

    text: str
    takes: bool
    values: tuple[str, ...]
    help: str


def completion(shell: str, commands: Mapping[str, str], parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    """A shell's script for all commands."""
    flags = {name: tuple(_flags(parser)) for name, parser in parsers.items()}
    words = {name: tuple(_words(parser)) for name, parser in parsers.items()}
    if shell == "fish":
        return "\n".join(_fish(commands, flags, words))
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return head + "\n".join(_bash(flags, words))


def _flags(parser: argparse.ArgumentParser) -> Iterator[Flag]:
    for action in parser._actions:
        for text in action.option_strings:
            if text.startswith("--"):
                values = tuple(str(one) for one in action.choices or _NAMES.get(action.dest, {}))
                yield Flag(text, action.nargs != 0, values, (action.help or "").split(";")[0])


def _words(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What a command's own positional arguments may be."""
    for action in parser._actions:
        if not action.option_strings:
            yield from map(str, action.choices or ())


def _bash(flags: Mapping[str, tuple[Flag, ...]], words: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """One function: the command stands first, and what is before the cursor may be a flag that takes a name."""
    yield "_shardlab() {"
    yield '  local at="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" names=""'
    yield f'  if [ "$COMP_CWORD" -eq 1 ]; then names="{" ".join([*flags, "completion"])}"; else'
    yield '  case "${COMP_WORDS[1]} $before" in'
    for name, its in flags.items():
        for flag in its:
            if flag.takes:
                yield f'    "{name} {flag.text}") names="{" ".join(flag.values)}" ;;'
        yield f'    "{name} "*) names="{" ".join([*(flag.text for flag in its), *words[name]])}" ;;'
    yield f'    "completion "*) names="{" ".join(SHELLS)}" ;;'
    yield "  esac; fi"
    yield '  COMPREPLY=($(compgen -W "$names" -- "$at"))'
    yield "}"
    yield "complete -o default -F _shardlab shardlab"


def _fish(
    commands: Mapping[str, str], flags: Mapping[str, tuple[Flag, ...]], words: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    for name, what in {**commands, "completion": "for a shell"}.items():
        yield f"complete -c shardlab -f -n __fish_use_subcommand -a {name} -d {_quoted(what)}"
    for name, its in flags.items():
        here = f"complete -c shardlab -n '__fish_seen_subcommand_from {name}'"
        for flag in its:
            takes = f" -x -a {_quoted(' '.join(flag.values))}" if flag.values else " -r" if flag.takes else ""
            yield f"{here} -l {flag.text[2:]}{takes} -d {_quoted(flag.help)}"
        if words[name]:
            yield f"{here} -a {_quoted(' '.join(words[name]))}"
    yield f"complete -c shardlab -f -n '__fish_seen_subcommand_from completion' -a {_quoted(' '.join(SHELLS))}"


def _quoted(text: str) -> str:
    """Text as fish quotes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
