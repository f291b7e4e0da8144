"""Campaigns open to everybody with a link: who comes, who gets a place, how it ends."""
