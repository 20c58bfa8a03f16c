"""What Altair cannot draw: custom components in plain JavaScript and CSS, offline."""
