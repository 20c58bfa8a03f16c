"""Everything that is asked or drawn."""
