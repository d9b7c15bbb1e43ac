"""What features see of a sentence, and the features that this package has."""
