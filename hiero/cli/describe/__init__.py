"""Descriptions of files and directories for `hiero info`."""
