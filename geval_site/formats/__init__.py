"""How dates read on pages and in the terminal, where Django looks for that."""
