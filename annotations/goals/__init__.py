"""Goals at which campaigns close themselves, and plans made from a pilot."""
