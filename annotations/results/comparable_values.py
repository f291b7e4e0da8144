"""SQL for annotators' answers to a campaign's ordinary items, as comparable numbers.

One row per question that an annotator has answered in this campaign, read from the answers
themselves, because the same person may have answered it in another campaign too. Scores are
unchanged; choices follow the order of the outputs' ids. Rankings and best-worst choices have no
such number. `hidden` holds the ids of documents to exclude.
"""

COMPARABLE = """
    SELECT a.item_id, a.annotator_id, m.criterion_id, g.value::float8 AS value
    FROM annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind = 'rating'
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%(hidden)s)
    CROSS JOIN LATERAL jsonb_each_text(a.answer -> 'scores') AS g(key, value)
    JOIN annotations_campaign_criteria m
        ON m.campaign_id = c.id AND m.criterion_id = g.key::bigint
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'
    UNION ALL
    SELECT a.item_id, a.annotator_id, nullif(g.key, '0')::bigint,
        g.value::float8 * CASE WHEN a.shown[1] < a.shown[2] THEN 1 ELSE -1 END
    FROM annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind = 'pairwise'
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%(hidden)s)
    CROSS JOIN LATERAL jsonb_each_text(a.answer -> 'choices') AS g(key, value)
    LEFT JOIN annotations_campaign_criteria m
        ON m.campaign_id = c.id AND m.criterion_id = g.key::bigint
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'
        AND (m.id IS NOT NULL OR (g.key = '0' AND NOT EXISTS (
            SELECT FROM annotations_campaign_criteria WHERE campaign_id = c.id)))"""
