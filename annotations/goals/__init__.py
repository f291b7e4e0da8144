"""What a campaign is to find out: goals at which it closes itself, and plans from a pilot."""
