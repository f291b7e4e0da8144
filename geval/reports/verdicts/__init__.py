"""What ratings and scores allow to say: a judge's analysis, null judges beside it, a verdict."""
