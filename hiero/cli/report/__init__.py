"""The report of `hiero run`: a page for those who decide what to do next with a system."""
