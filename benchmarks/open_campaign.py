"""Part of `make bench-annotate`: 300 participants at once by an open link, from the link to the
code, each in a thread with a connection of their own, and some more than there are places.

They arrive within 45 seconds, and think 10 to 20 about each item, as quick people would: what is
measured is whether the site answers at once when somebody submits, not how fast scripts can click.
Afterwards the database is asked whether quotas, overlap and the bookkeeping of items are exact.
Among them are cheats who skip nearly everything, or give one answer to all items at once: none of
them may be paid, each has to be named in the payment file, and nobody else.
"""

import http.client
import random
import re
import statistics
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

PARTICIPANTS, TOO_MANY = 300, 20
ITEMS_EACH, OVERLAP = 5, 3
ARRIVE_WITHIN, THINKING = 45.0, (10.0, 20.0)  # seconds
CHEATS = ("skips", "clicks") * 10
WARMING = 16  # participants of another link, before
WANTED_MS = 300
CODE, INCOMPLETE_CODE = "BENCH-DONE", "BENCH-PART"
TASK = re.compile(rb'data-assignment="(\d+)"')
SCORES = re.compile(rb'name="(score-\d+)"\s+value="3"')
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class Seen:
    """What a participant saw: seconds of each request, how it ended, errors."""

    seconds: list[float] = field(default_factory=list)
    done: bool = False
    screened: bool = False
    incomplete: bool = False
    errors: list[str] = field(default_factory=list)


class Browser:
    """Cookies, redirects and times of one participant."""

    def __init__(self, port: int, seen: Seen) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookies: dict[str, str] = {}
        self.seen = seen

    def get(self, path: str) -> bytes:
        return self._request("GET", path, None)

    def post(self, path: str, page: bytes, **fields: str) -> bytes:
        token = TOKEN.search(page)
        fields["csrfmiddlewaretoken"] = token[1].decode() if token else ""
        return self._request("POST", path, urlencode(fields))

    def _request(self, method: str, path: str, body: str | None) -> bytes:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        began = time.perf_counter()
        self.connection.request(method, path, body=body, headers=headers)
        answer = self.connection.getresponse()
        page = answer.read()
        self.seen.seconds.append(time.perf_counter() - began)
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                for cookie in SimpleCookie(value).values():
                    self.cookies[cookie.key] = cookie.value
        if answer.status == 302:
            return self._request("GET", str(answer.getheader("Location")), None)
        if answer.status not in (200, 403):
            self.seen.errors.append(f"{method} {path.partition('?')[0]}: {answer.status}")
        return page


def take_part(
    port: int, address: str, number: int, start_at: float, seen: Seen, manner: str = "honest"
) -> None:
    """From the link to the code."""
    chance, is_warming = random.Random(number), address != "bench"
    arrives = start_at if is_warming else start_at + chance.uniform(0, ARRIVE_WITHIN)
    time.sleep(max(0.0, arrives - time.time()))
    browser = Browser(port, seen)
    entry = f"/c/{address}?PROLIFIC_PID={manner}{number}&STUDY_ID=s&SESSION_ID=t"
    try:
        page = browser.get(entry)
        if b"You cannot take part now" not in page:
            page = browser.post(entry, page)
            page = browser.post(f"/c/{address}/start", page)
        answered = 0
        while task := TASK.search(page):
            is_quick = is_warming or manner != "honest"
            thought = 0.0 if is_quick else chance.uniform(*THINKING)
            time.sleep(thought)
            path = f"/c/{address}/task/{task[1].decode()}/"
            if manner == "skips" and answered:
                page = browser.post(f"{path}skip/", page, reason="")
                continue
            score = "3" if is_quick else chance.choice("12345")
            scores = {name.decode(): score for name in SCORES.findall(page)}
            page = browser.post(f"{path}submit/", page, version="0", seconds=str(thought), **scores)
            answered += 1
        if b"One step is left" in page:
            page = browser.post(f"/c/{address}/finish", browser.get(f"/c/{address}/finish"))
    except (OSError, http.client.HTTPException) as error:
        seen.errors.append(repr(error))
        return
    seen.done = CODE.encode() in page
    seen.screened = b"You cannot" in page
    seen.incomplete = INCOMPLETE_CODE.encode() in page
    if not (seen.done or seen.screened or seen.incomplete):
        seen.errors.append("neither done nor screened out")


def open_to_all(project: Any, address: str, people: int) -> Any:
    """A campaign of exactly as many answers as the participants can give, with its link."""
    from annotations.models import Campaign, ItemOrder, OpenLink, Selection
    from annotations.planning.campaigns import open_campaign

    campaign = Campaign.objects.create(
        project=project, name=address, overlap=OVERLAP, order=ItemOrder.RANDOM,
        selection=Selection.SAMPLE, sample_size=(people + len(CHEATS)) * ITEMS_EACH // OVERLAP,
    )  # fmt: skip
    campaign.criteria.set(project.criteria.all())
    OpenLink.objects.create(
        campaign=campaign, address=address, title="Rate texts", consent="Agree?",
        people=people, items_each=ITEMS_EACH, done_code=CODE, incomplete_code=INCOMPLETE_CODE,
        amount=1,
    )  # fmt: skip
    open_campaign(campaign)
    return campaign


def exactness(campaign: Any) -> list[str]:
    """Where quotas, overlap or the bookkeeping of items are not exact."""
    from annotations.models import Assignment, Participant

    errors = []
    states = Counter(
        Participant.objects.filter(link__campaign=campaign).values_list("state", flat=True)
    )
    if (in_places := states["done"] + states["active"]) > PARTICIPANTS:
        errors.append(f"{in_places} people have {PARTICIPANTS} places")
    answered = Assignment.objects.filter(campaign=campaign, state="submitted")
    by_item = Counter(answered.values_list("item", flat=True))
    places = dict(campaign.items.values_list("pk", "places"))
    if wrong := sum(by_item[item] + free != OVERLAP for item, free in places.items()):
        errors.append(f"{wrong} items whose answers and free places are not {OVERLAP}")
    by_person = Counter(answered.values_list("annotator", flat=True))
    if too_many := sum(count > ITEMS_EACH for count in by_person.values()):
        errors.append(f"{too_many} people got more than {ITEMS_EACH} items")
    lacking = sum(places.values())
    print(
        f"  {len(by_item)} items, {answered.count()} of {len(places) * OVERLAP} answers,"
        f" {lacking} places free; {states['done']} done, {states['screened']} screened out"
    )
    return errors


def wrongly_paid(campaign: Any) -> list[str]:
    """Where cheats are paid or not named, or honest people are named or not paid."""
    from annotations.models import OpenLink
    from annotations.results.payment import payments

    link = OpenLink.objects.select_related("campaign__project").get(campaign=campaign)
    errors, named, honest = [], 0, 0
    for row in payments(link):
        person = row.participant
        is_honest = str(person.external_id).startswith("honest")
        if is_honest and (row.marks or (person.state == "done") != bool(row.amount)):
            errors.append(f"{person.external_id}: {person.state}, {row.amount}, {row.marks}")
        if not is_honest and person.started_at and (row.amount or not row.marks):
            errors.append(f"{person.external_id}: paid {row.amount}, named for {row.marks}")
        named += bool(row.marks)
        honest += is_honest and bool(row.amount)
    print(f"  {named} people are named, {honest} honest ones are paid")
    return errors


def everybody_takes_part(
    port: int, address: str, people: int, cheats: Sequence[str] = ()
) -> list[Seen]:
    """All at once, cheats among them; what each saw."""
    manners = ["honest"] * people + list(cheats)
    everybody = [Seen() for _ in manners]
    start_at = time.time() + 1.0
    threads = [
        threading.Thread(target=take_part, args=[port, address, number, start_at, seen, manner])
        for number, (seen, manner) in enumerate(zip(everybody, manners, strict=True))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return everybody


def measure_open_campaign(project: Any, port: int) -> bool:
    """Print the figures; whether errors, quotas and overlap are as they have to be."""
    # So that all web processes have their code, templates and connections.
    open_to_all(project, "warming", WARMING)
    everybody_takes_part(port, "warming", WARMING)
    campaign = open_to_all(project, "bench", PARTICIPANTS)
    everybody = everybody_takes_part(port, "bench", PARTICIPANTS + TOO_MANY, CHEATS)
    times = sorted(second for seen in everybody for second in seen.seconds)
    errors = [error for seen in everybody for error in seen.errors]
    p50, p95 = 1000 * statistics.median(times), 1000 * times[int(0.95 * len(times))]
    wrong, unfair = exactness(campaign), wrongly_paid(campaign)
    paid_cheats = sum(seen.done for seen in everybody[PARTICIPANTS + TOO_MANY :])
    print(
        f"300 open participants: {sum(seen.done for seen in everybody)} got the code,"
        f" {sum(seen.screened for seen in everybody)} of {len(everybody)} were beyond the quota;"
        f" {len(errors)} errors (wanted: 0), quotas and overlap"
        f" {'not exact: ' + '; '.join(wrong) if wrong else 'exact'} (wanted: exact)"
    )
    print(
        f"  {len(times):,} requests: p50 {p50:.0f} ms, p95 {p95:.0f} ms (wanted: below"
        f" {WANTED_MS}; {p95 / WANTED_MS:.2f} of it)"
    )
    print(
        f"  {len(CHEATS)} cheats: {paid_cheats} got the code of people who are done (wanted: 0),"
        f" {len(unfair)} people paid or named wrongly (wanted: 0)"
    )
    for error in (*errors[:3], *unfair[:3]):
        print("  ", error)
    return not errors and not wrong and not unfair and not paid_cheats
