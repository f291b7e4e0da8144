"""How often each value of a criterion occurs in the files of one load. Pure."""

# Means and metrics have many different values; beyond these only their range is kept.
MOST_DIFFERENT = 1000


class SeenValues:
    """Counts of values, and their range."""

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}
        self.total = 0
        self.lowest = float("inf")
        self.highest = float("-inf")

    def add(self, value: float) -> None:
        self.total += 1
        counts = self.counts
        if value in counts:
            counts[value] += 1
            return
        if value < self.lowest:
            self.lowest = value
        if value > self.highest:
            self.highest = value
        if len(counts) < MOST_DIFFERENT:
            counts[value] = 1

    @property
    def range(self) -> tuple[float, float]:
        return self.lowest, self.highest

    @property
    def are_all_counted(self) -> bool:
        return sum(self.counts.values()) == self.total
