"""How far a judge can be relied on: improved, checked as an instrument, certified. Optional."""
