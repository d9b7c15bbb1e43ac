"""Readers and writers of commands: sentences, sets, forests, translations, scores."""
