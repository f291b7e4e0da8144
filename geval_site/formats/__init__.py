"""Date formats on pages and in the terminal, in the place where Django expects them."""
