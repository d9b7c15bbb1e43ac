"""Parsing of English text into Penn treebank constituents, converted from dependency trees."""
