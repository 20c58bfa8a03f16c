"""A question answered as it is asked: which one it is, what was said of the machine, and the sum that decides it.

reading   the model, the GPUs, the widths and the lengths that a question names
kinds     some twenty questions that users post, each found by the words it is asked with
sums      what decides each: times, memory and sizes of the planner, said as remarks
compared  the sums that set two ways of serving beside each other
answers   a question read, recognised and answered, with a link that opens it filled in
"""
