"""What the shell around every page says."""

from runtime.prose import said


def label(name: str, /, **fields: object) -> str:
    """A block of `content/<language>/shell.md` with its fields filled."""
    return said("shell", name, **fields)
