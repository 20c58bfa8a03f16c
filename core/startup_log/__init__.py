"""An engine's startup log as a checksum: every figure it prints, predicted from the model's config and held to it.

records   what a line, a figure, a doubt, a check and a report are
lines     decoration off, wrapped lines together, who speaks, what is covered
arguments names and values of a command or a list, whatever a value is made of
known_    which arguments leave weights and cache alone
switches  what arguments put beside the model
settings  what the engine says it was asked for
services  engines that print into one text, told apart
fatal     the crash that a log ends in
figures   the numbers that a config predicts, and the memory they are predicted from
remarks   what is worth a sentence: all-reduce, transport, layers, memory, refusals
resolve   which model, weight format, sizes and ranks the log is about
one_run   one command after another told apart
basis     a run with all that its predictions are made from
predict_  weights, and the cache: each figure from the config
starts    what is said between one measure of memory and the next, found by bisection
checking  one run's figures beside their predictions
reader    a text in, a report out
"""
