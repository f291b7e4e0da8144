"""URLs of annotation pages, below a project's URL, and of open links, which have their own."""

from django.urls import path

from annotations.views import (
    adjudication,
    answers,
    campaigns,
    open_links,
    participants,
    people,
    plans,
    tasks,
)

app_name = "annotations"
ANNOTATE = "p/<slug:slug>/annotate/"
CAMPAIGN = ANNOTATE + "<int:pk>/"
OPEN = "c/<slug:address>"
OPEN_TASK = OPEN + "/task/"

urlpatterns = [
    path("work/", campaigns.work_waiting, name="work_waiting"),
    path(ANNOTATE, campaigns.campaign_list, name="campaign_list"),
    path(ANNOTATE + "new/", campaigns.campaign_create, name="campaign_create"),
    path(ANNOTATE + "plan/", plans.campaign_plan, name="campaign_plan"),
    path(ANNOTATE + "guidelines/", campaigns.guidelines_edit, name="guidelines_edit"),
    path(ANNOTATE + "export/<str:name>", answers.export, name="export"),
    path(ANNOTATE + "publish/", answers.publish, name="publish"),
    path(CAMPAIGN, campaigns.campaign_detail, name="campaign_detail"),
    path(CAMPAIGN + "edit/", campaigns.campaign_edit, name="campaign_edit"),
    path(CAMPAIGN + "open/", campaigns.campaign_open, name="campaign_open"),
    path(CAMPAIGN + "close/", campaigns.campaign_close, name="campaign_close"),
    path(CAMPAIGN + "copy/", campaigns.campaign_copy, name="campaign_copy"),
    path(CAMPAIGN + "prepare/", campaigns.campaign_prepare, name="campaign_prepare"),
    path(CAMPAIGN + "delete/", campaigns.campaign_delete, name="campaign_delete"),
    path(CAMPAIGN + "overlap/", campaigns.campaign_raise, name="campaign_raise"),
    path(CAMPAIGN + "progress/", campaigns.campaign_progress_piece, name="campaign_progress"),
    path(CAMPAIGN + "people.csv", campaigns.campaign_people, name="campaign_people"),
    path(CAMPAIGN + "answers/", answers.answer_list, name="answer_list"),
    path(CAMPAIGN + "answers/hand-out/", answers.answer_hand_out, name="answer_hand_out"),
    path(
        CAMPAIGN + "answers/return/<int:annotator>/",
        answers.answer_return_all,
        name="answer_return_all",
    ),
    path(CAMPAIGN + "answers/<int:answer>/review/", answers.answer_review, name="answer_review"),
    path(CAMPAIGN + "answers/<int:answer>/fix/", answers.answer_fix, name="answer_fix"),
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
    path(CAMPAIGN + "task/token/", tasks.task_token, name="task_token"),
    path(CAMPAIGN + "task/back/", tasks.task_back, name="task_back"),
    path(CAMPAIGN + "task/guidelines/", tasks.task_guidelines, name="task_guidelines"),
    path(CAMPAIGN + "task/more/", tasks.task_more, name="task_more"),
    path(CAMPAIGN + "task/mine/", tasks.task_list, name="task_list"),
    path(CAMPAIGN + "task/<int:assignment>/", tasks.task_detail, name="task_detail"),
    path(CAMPAIGN + "task/<int:assignment>/submit/", tasks.task_submit, name="task_submit"),
    path(CAMPAIGN + "task/<int:assignment>/draft/", tasks.task_draft, name="task_draft"),
    path(CAMPAIGN + "task/<int:assignment>/skip/", tasks.task_skip, name="task_skip"),
    path(CAMPAIGN + "task/<int:assignment>/ask/", tasks.task_ask, name="task_ask"),
    path(CAMPAIGN + "task/<int:assignment>/compare/", tasks.task_compare, name="task_compare"),
    path(CAMPAIGN + "link/", open_links.open_link_edit, name="open_link_edit"),
    path(CAMPAIGN + "link/switch/", open_links.open_link_switch, name="open_link_switch"),
    path(CAMPAIGN + "participants/", open_links.participant_list, name="participant_list"),
    path(CAMPAIGN + "participants/payments.csv", open_links.payment_csv, name="payment_csv"),
    path(
        CAMPAIGN + "participants/<int:participant>/return/",
        open_links.participant_return,
        name="participant_return",
    ),
    path(
        CAMPAIGN + "participants/<int:participant>/forget/",
        open_links.participant_forget,
        name="participant_forget",
    ),
    path("p/<slug:slug>/members/forget/", people.person_forget, name="person_forget"),
    path(OPEN, participants.open_entry, name="open_entry"),
    path(OPEN + "/start", participants.open_start, name="open_start"),
    path(OPEN + "/finish", participants.open_finish, name="open_finish"),
    path(OPEN + "/leave", participants.open_leave, name="open_leave"),
    path(OPEN + "/end", participants.open_end, name="open_end"),
    path(OPEN_TASK, tasks.task_current, name="open_task"),
    path(OPEN_TASK + "next/", tasks.task_next, name="open_next"),
    path(OPEN_TASK + "token/", tasks.task_token, name="open_token"),
    path(OPEN_TASK + "back/", tasks.task_back, name="open_back"),
    path(OPEN_TASK + "guidelines/", tasks.task_guidelines, name="open_guidelines"),
    path(OPEN_TASK + "mine/", tasks.task_list, name="open_list"),
    path(OPEN_TASK + "<int:assignment>/", tasks.task_detail, name="open_detail"),
    path(OPEN_TASK + "<int:assignment>/submit/", tasks.task_submit, name="open_submit"),
    path(OPEN_TASK + "<int:assignment>/draft/", tasks.task_draft, name="open_draft"),
    path(OPEN_TASK + "<int:assignment>/skip/", tasks.task_skip, name="open_skip"),
    path(OPEN_TASK + "<int:assignment>/ask/", tasks.task_ask, name="open_ask"),
]
