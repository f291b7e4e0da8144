"""Columns that refer to other records, shared by several files."""

from geval.files.archive.record_file import Ref

TO_OUTPUT = Ref("outputs", ("doc_id", "system_id"))
TO_RIVAL_OUTPUT = Ref("outputs", ("doc_id", "rival"))
TO_CRITERION = Ref("criteria", ("criterion",))
TO_JUDGE = Ref("judges", ("judge", "version"))
TO_RIVAL = Ref("judges", ("rival", "rival_version"))
TO_RUN = Ref("runs", ("run",))
TO_CAMPAIGN = Ref("campaigns", ("campaign",))
TO_ANNOTATOR = Ref("annotators", ("annotator",))
TO_ANSWER = Ref("answers", ("answer_id",))
TO_STUDY = Ref("studies", ("study",))
TO_SEARCH = Ref("searches", ("search",))
TO_ITEM = Ref("campaign_items", ("campaign", "position"))
