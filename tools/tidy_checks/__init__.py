"""The checks of tools/tidy.py: each is a function from a Tree to Findings."""
