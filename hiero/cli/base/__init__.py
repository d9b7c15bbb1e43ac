"""Parts that make commands work: options and settings, help, files, progress, objects that users load."""
