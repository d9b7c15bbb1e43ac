"""Penn treebank constituents of English text, converted from a dependency parser's trees."""
