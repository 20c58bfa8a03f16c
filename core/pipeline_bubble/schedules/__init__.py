"""Pipeline schedules: who computes which microbatch when. Orders, one simulator, one validity predicate.

A schedule is a function `schedule(stages, microbatches, ...) -> list[Action]`. The list holds each rank's
program in the order it runs; it says nothing of time. `simulator` gives it a clock, `validity` says whether the
result may happen, `grid` draws it on ticks.
"""
