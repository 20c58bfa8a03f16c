"""The referee: one clock that replays what pages price, and the bounds that no displayed time may beat."""
