"""Lab 02: what a real run of MiniGPT on two ranks must print, by labs 01 and 03, beside what it did print."""
