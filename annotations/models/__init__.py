"""Models of annotators, campaigns, ratings and preferences."""

from annotations.models.assignments import (
    AnswerChange,
    Assignment,
    AssignmentState,
    CampaignItem,
    Decision,
    Inclusion,
    ItemKind,
    Review,
    ReviewAction,
    StatedProbability,
)
from annotations.models.campaigns import (
    ACTIVE,
    Campaign,
    CampaignGoal,
    CampaignKind,
    CampaignState,
    ItemOrder,
    NamedItems,
    Seat,
    Selection,
)
from annotations.models.guidelines import GuidelinesVersion, guidelines_texts
from annotations.models.judgements import Preference, Rating, Span
from annotations.models.open_links import OpenLink, Participant, ParticipantState, ScreenedFor
from annotations.models.people import Annotator, Exclusion
from evaluations.models.goals import GoalKind
