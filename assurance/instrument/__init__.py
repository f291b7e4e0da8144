"""A judge as an instrument: whether it drifts, how steady it is, what moves it that should not."""
