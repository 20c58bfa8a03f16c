"""Still drawings as SVG text, from rows of core and the palette."""
