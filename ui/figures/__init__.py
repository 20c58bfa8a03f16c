"""One grammar for every figure: `style` (layers, axes), `bars`, `dots`, `lines`; then what two pages share."""
