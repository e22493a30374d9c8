"""The rigs of tests/faults/run, and what they share."""
