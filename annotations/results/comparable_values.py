"""SQL for what annotators gave to a campaign's ordinary items, as numbers that can be compared.

One row per question that an annotator has answered, from the same ratings and preferences that
reports read: scores as they are, choices in the order of the outputs' ids. Rankings and best-worst
choices have no such number. `hidden` holds the ids of documents that are left out.
"""

COMPARABLE = """
    SELECT a.item_id, a.annotator_id, r.criterion_id, r.score AS value
    FROM annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind = 'rating'
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%(hidden)s)
    JOIN annotations_campaign_criteria m ON m.campaign_id = c.id
    JOIN annotations_rating r ON r.output_id = a.shown[1] AND r.criterion_id = m.criterion_id
        AND r.annotator_id = a.annotator_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'
    UNION ALL
    SELECT a.item_id, a.annotator_id, p.criterion_id, p.value::float8
    FROM annotations_assignment a
    JOIN annotations_campaign c ON c.id = a.campaign_id AND c.kind = 'pairwise'
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
        AND i.document_id <> ALL(%(hidden)s)
    JOIN annotations_preference p ON p.annotator_id = a.annotator_id
        AND p.output_a_id = least(a.shown[1], a.shown[2])
        AND p.output_b_id = greatest(a.shown[1], a.shown[2])
    LEFT JOIN annotations_campaign_criteria m
        ON m.campaign_id = c.id AND m.criterion_id = p.criterion_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'submitted'
        AND (m.id IS NOT NULL OR (p.criterion_id IS NULL AND NOT EXISTS (
            SELECT FROM annotations_campaign_criteria WHERE campaign_id = c.id)))"""
