"""Forms of campaigns, their goals and plans."""
