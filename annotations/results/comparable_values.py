"""SQL for annotators' answers to ordinary items as numbers that can be compared.

One row per answer to a question: scores as they are, choices in the order of the outputs' ids,
because the left side differs between annotators. Rankings and best-worst choices have no such
number.
"""

SAID = """
    SELECT a.item_id, a.annotator_id, v.key, v.value::float8 AS value
    FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
        AND i.kind = 'ordinary',
         jsonb_each_text(a.answer -> 'scores') AS v(key, value)
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'
    UNION ALL
    SELECT a.item_id, a.annotator_id, v.key, v.value::float8 * CASE
        WHEN a.shown[1] < a.shown[2] THEN 1 ELSE -1 END
    FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
        AND i.kind = 'ordinary',
         jsonb_each_text(a.answer -> 'choices') AS v(key, value)
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'"""
