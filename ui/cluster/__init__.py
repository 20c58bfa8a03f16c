"""The room is the cluster: phones pass the chunks of a ring all-reduce by hand."""
