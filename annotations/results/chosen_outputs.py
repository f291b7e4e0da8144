"""Which rated outputs a campaign chose instead of drawing them at random.

Campaigns “Where judges disagree most” take the outputs at the top of a list, and “Where the
estimate needs it most” take more of some systems than of others. What such ratings say holds for
the outputs that were rated: on SummEval's consistency, gpt-4o has a rho of 0.53 over all outputs,
and of 0.69 over the fifth on which judges differ most.
"""

from collections.abc import Iterable

import numpy as np

from annotations.models import CampaignKind, Selection
from annotations.results.human_scores import HumanScores
from evaluations.query_arrays import fetch_numbers, positions
from evaluations.statistics.pairing import IntArray

CHOSEN = (Selection.DISAGREEMENT, Selection.NEEDED)


def chosen_outputs(project_id: int, humans: Iterable[HumanScores], *, outputs: IntArray) -> int:
    """How many outputs have ratings from such campaigns alone, on any criterion.

    Args:
        outputs: shape (outputs,), the ids of the outputs that `humans` are about.
    """
    selections = ", ".join(f"'{one.value}'" for one in CHOSEN)
    rows = fetch_numbers(
        ["o.id", "a.annotator_id"],
        f"""FROM annotations_campaign c
            JOIN annotations_assignment a ON a.campaign_id = c.id AND a.state = 'submitted'
            JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
            CROSS JOIN LATERAL unnest(i.outputs) AS o(id)
            WHERE c.project_id = {int(project_id)} AND c.selection IN ({selections})
                AND c.kind = '{CampaignKind.RATING.value}' AND c.sample_size IS NOT NULL""",
    )
    if not len(rows):
        return 0
    at = positions(rows[:, 0], outputs)
    asked = {(int(output), int(who)) for output, who in zip(at, rows[:, 1], strict=True)}
    found = np.zeros(len(outputs), dtype=bool)
    others = np.zeros(len(outputs), dtype=bool)
    for human in humans:
        for output, rater in zip(
            human.ratings.output.tolist(), human.ratings.rater.tolist(), strict=True
        ):
            is_asked = (output, human.annotator_ids[rater]) in asked
            (found if is_asked else others)[output] = True
    return int((found & ~others).sum())
