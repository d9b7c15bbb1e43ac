"""Options of commands as records, each of which checks itself once, when the command line is read."""
