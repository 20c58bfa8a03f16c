"""Links as they were measured: the readers of nccl-tests, and the fit that makes a table a link."""
