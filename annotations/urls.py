"""URLs of annotation pages, below a project's URL."""

from django.urls import path

from annotations.views import adjudication, answers, campaigns, files, plans, tasks

app_name = "annotations"
ANNOTATE = "p/<slug:slug>/annotate/"
CAMPAIGN = ANNOTATE + "<int:pk>/"

urlpatterns = [
    path(ANNOTATE, campaigns.campaign_list, name="campaign_list"),
    path(ANNOTATE + "new/", campaigns.campaign_create, name="campaign_create"),
    path(ANNOTATE + "plan/", plans.campaign_plan, name="campaign_plan"),
    path(ANNOTATE + "guidelines/", campaigns.guidelines_edit, name="guidelines_edit"),
    path(ANNOTATE + "export/<str:name>", files.export, name="export"),
    path(CAMPAIGN, campaigns.campaign_detail, name="campaign_detail"),
    path(CAMPAIGN + "edit/", campaigns.campaign_edit, name="campaign_edit"),
    path(CAMPAIGN + "open/", campaigns.campaign_open, name="campaign_open"),
    path(CAMPAIGN + "close/", campaigns.campaign_close, name="campaign_close"),
    path(CAMPAIGN + "copy/", campaigns.campaign_copy, name="campaign_copy"),
    path(CAMPAIGN + "delete/", campaigns.campaign_delete, name="campaign_delete"),
    path(CAMPAIGN + "overlap/", campaigns.campaign_raise, name="campaign_raise"),
    path(CAMPAIGN + "progress/", campaigns.campaign_progress_piece, name="campaign_progress"),
    path(CAMPAIGN + "answers/", answers.answer_list, name="answer_list"),
    path(CAMPAIGN + "answers/hand-out/", answers.answer_hand_out, name="answer_hand_out"),
    path(CAMPAIGN + "answers/<int:answer>/review/", answers.answer_review, name="answer_review"),
    path(
        CAMPAIGN + "annotators/<int:annotator>/exclude/",
        answers.annotator_exclude,
        name="annotator_exclude",
    ),
    path(CAMPAIGN + "adjudicate/", adjudication.adjudication_list, name="adjudication_list"),
    path(
        CAMPAIGN + "adjudicate/<int:item>/",
        adjudication.adjudication_item,
        name="adjudication_item",
    ),
    path(CAMPAIGN + "task/", tasks.task_current, name="task_current"),
    path(CAMPAIGN + "task/next/", tasks.task_next, name="task_next"),
    path(CAMPAIGN + "task/back/", tasks.task_back, name="task_back"),
    path(CAMPAIGN + "task/mine/", tasks.task_list, name="task_list"),
    path(CAMPAIGN + "task/<int:assignment>/", tasks.task_detail, name="task_detail"),
    path(CAMPAIGN + "task/<int:assignment>/submit/", tasks.task_submit, name="task_submit"),
    path(CAMPAIGN + "task/<int:assignment>/draft/", tasks.task_draft, name="task_draft"),
    path(CAMPAIGN + "task/<int:assignment>/skip/", tasks.task_skip, name="task_skip"),
    path(CAMPAIGN + "task/<int:assignment>/compare/", tasks.task_compare, name="task_compare"),
]
