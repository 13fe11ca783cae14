"""REST endpoints of the next version of the questionnaire."""

from delivery.surveys.models import Questionnaire, QuestionnaireDraft
from engagements.models import Role

DRAFT, QUESTIONS = "/api/v1/questionnaire-draft/", "/api/v1/questionnaire-draft-questions/"
NEW = {"key": "rack_power", "number": 99, "section": "env", "section_label": "环境",
       "section_label_en": "Environment", "label": "机柜功率", "label_en": "Rack power",
       "type": "number", "unit": "kW"}


def test_a_draft_from_begin_to_publication(api, people):
    admin = api(Role.ADMINISTRATOR)

    def send(method, url, **data):
        answer = getattr(admin, method)(url, data, format="json")
        return answer.status_code, answer.json()

    assert admin.get(DRAFT).status_code == 404
    assert send("post", DRAFT)[1]["edits"] == 0
    status, draft = send("post", QUESTIONS, seen=0, question=NEW)
    keys = [question["key"] for question in draft["questions"]]
    assert (status, draft["edits"], keys[-1]) == (201, 1, "rack_power")
    late = send("post", QUESTIONS, seen=0, question={**NEW, "key": "other"})
    assert (late[0], late[1]["title"]) == (409, "wrong_state")
    changed = {**NEW, "label_en": "Power of the rack"}
    one = f"{QUESTIONS}rack_power/"
    assert send("put", one, seen=1, question={**changed, "key": "renamed"})[0] == 400
    del changed["key"]
    status, draft = send("put", one, seen=1, question=changed)
    assert (draft["questions"][-1]["key"], draft["questions"][-1]["label_en"]) == (
        "rack_power", "Power of the rack")
    status, draft = send("post", f"{one}move/", seen=2, way="up")
    assert [q["key"] for q in draft["questions"]][-2:] == ["rack_power", keys[-2]]
    gone = f"{QUESTIONS}{keys[-2]}/?seen=3"
    assert admin.delete(gone.replace("seen=3", "seen=2")).status_code == 409
    assert admin.delete(gone).json()["edits"] == 4
    assert {(row["key"], row["what"]) for row in admin.get(DRAFT).json()["differences"]} == {
        ("rack_power", "added"), (keys[-2], "removed")}
    assert send("post", f"{DRAFT}publish/", seen=4, note="")[0] == 400
    status, made = send("post", f"{DRAFT}publish/", seen=4, note="Power of the racks")
    assert (status, made["version"], made["questions"][-1]["key"]) == (201, 2, "rack_power")
    assert not QuestionnaireDraft.objects.exists()


def test_what_is_wrong_is_named_and_nothing_is_lost(api, people):
    admin = api(Role.ADMINISTRATOR)
    admin.post(DRAFT)
    wrong = admin.post(QUESTIONS, {"seen": 0, "question": {**NEW, "type": "list", "number": ""}},
                       format="json").json()
    assert wrong["errors"]["question"].keys() == {"type", "number"}
    twice = admin.post(QUESTIONS, {"seen": 0, "question": {**NEW, "key": "deadline"}},
                       format="json")
    assert (twice.status_code, "twice" in twice.json()["detail"]) == (400, True)
    assert admin.post(QUESTIONS, {"question": NEW}, format="json").json()["errors"].keys() == {
        "seen"}
    changed = {name: value for name, value in NEW.items() if name != "key"}
    for method, url, body in (("put", "no-such/", {"seen": 0, "question": changed}),
                              ("delete", "no-such/?seen=0", {}),
                              ("post", "no-such/move/", {"seen": 0, "way": "up"})):
        assert getattr(admin, method)(QUESTIONS + url, body, format="json").status_code == 404
    assert admin.get(DRAFT).json()["edits"] == 0
    assert admin.post(f"{DRAFT}discard/", {"seen": 0}).status_code == 204
    assert admin.post(f"{DRAFT}discard/", {"seen": 0}).status_code == 404
    assert Questionnaire.objects.count() == 1


def test_only_administrators(api, people):
    api(Role.ADMINISTRATOR).post(DRAFT)
    for role in set(Role.values) - {Role.ADMINISTRATOR}:
        client, changed = api(role), {name: NEW[name] for name in NEW if name != "key"}
        tried = [client.get(DRAFT), client.post(DRAFT)]
        tried += [client.post(url, {"seen": 0, **body}, format="json") for url, body in (
            (QUESTIONS, {"question": NEW}), (f"{QUESTIONS}deadline/move/", {"way": "up"}),
            (f"{DRAFT}publish/", {"note": "x"}), (f"{DRAFT}discard/", {}))]
        tried += [client.put(f"{QUESTIONS}deadline/", {"seen": 0, "question": changed},
                             format="json"),
                  client.delete(f"{QUESTIONS}deadline/?seen=0")]
        assert {answer.status_code for answer in tried} == {403}
