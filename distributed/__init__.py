"""The only room with torch in it: the sharded layers, MiniGPT, and the programs that torchrun starts."""
