"""People who work with what they see: labels, buttons and links; every action is counted."""

import os
import re
from collections import Counter, defaultdict

from django.utils.translation import gettext, ngettext, override

from delivery.demo.sample_firm import PASSWORD
from engagements.navigation import GROUPS

SHOTS = os.environ.get("DESK_SHOTS")  # a folder: a picture of every page that was worked on
PATIENCE = 120_000  # milliseconds; the machine may be busy with other tests
KINDS = ("clicks", "fields", "picks", "pages")
PICKS = {"select": 2, "file": 1, "checkbox": 1, "radio": 1}


class BrowserSession:
    """People at their windows; the only address anybody types is the portal's.

    Buttons, links and labels are named by their English words and looked for in the window's
    language. `counts` holds of each part of the way: clicks on buttons and links, filled fields,
    what the mouse does for the latter (two for a choice, one for a tick or a file; text fields are
    reached with the keyboard) and loaded pages.
    """

    def __init__(self, enter, language: str):
        """`enter` opens a window at the portal's first page: `enter(language)`."""
        self.enter, self.language, self.windows = enter, language, {}
        self.counts, self.part = defaultdict(Counter), "set-up"

    def word(self, text: str) -> str:
        """What the window shows for it; names of a model's fields begin small in the code."""
        with override("en" if self.language == "en" else "zh-hans"):
            message, small = gettext(text), text[:1].lower() + text[1:]
            return message if message != text or gettext(small) == small else gettext(small)

    def at(self, username: str) -> None:
        """Sit down at the person's window, where they left off; at first they sign in."""
        known = username in self.windows
        if not known:
            self.windows[username] = self.enter(self.language)
        self.page = self.windows[username].page
        if not known:
            part, self.part = self.part, "sign-in"
            self.fill({"Username": username, "Password": PASSWORD})
            self.press("Sign in")
            self.part = part

    def desk(self, username: str, task: str = "") -> None:
        """The person's desk as it is now, and from there the first entry that holds `task`.

        Between two tasks of a person others work: they come back by the portal's address.
        """
        new = username not in self.windows
        self.at(username)
        if not new:
            self.windows[username].open("/")
            self.counts[self.part].update(pages=1)
        if task:
            self.follow(task)

    def follow(self, words: str) -> None:
        """The first link of the page's content whose text holds the words, as they stand."""
        self._lead_on(self.page.get_by_role("main").get_by_role("link").filter(has_text=words))

    def follow_cell(self, words: str) -> None:
        """The first cell of the matrix whose name holds the words."""
        self._lead_on(self.page.locator(f".desk-matrix a[title*='{words}']"))

    def _lead_on(self, found) -> None:
        with self.page.expect_navigation():
            found.locator("visible=true").first.click()
        self.counts[self.part].update(clicks=1, pages=1)

    def wide(self) -> bool:
        """Whether the page is wider than its window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth > window.innerWidth + 1")

    def seen(self, name: str, roles=("button", "link")):
        """The visible control of that name: in the page's content, else in its frame."""
        message = re.compile(rf"^\s*{re.escape(self.word(name))}\s*$")
        for place in (self.page.get_by_role("main"), self.page):
            for kind in (message, self.word(name)):
                for role in roles:
                    found = place.get_by_role(role, name=kind).locator("visible=true")
                    if found.count():
                        return found.first
        raise AssertionError(f"nobody sees “{self.word(name)}” on {self.page.url}: "
                             f"{self.page.get_by_role('main').inner_text()[:1500]}")

    def press(self, name: str, *, refused: bool = False) -> None:
        """Press a button or link that leads to a page; complaints fail unless expected."""
        self._follow(self.seen(name), name, refused=refused)

    def take_next_step(self) -> None:
        """The button of the engagement's next step, named after what it opens."""
        self._follow(self.page.locator(".desk-next .btn-primary"), "next step")

    def _follow(self, control, name: str, *, refused: bool = False) -> None:
        with self.page.expect_navigation():
            control.click()
        self.counts[self.part].update(clicks=1, pages=1)
        faults = self.page.locator(".alert-danger, .invalid-feedback").all_inner_texts()
        assert bool(faults) == refused, (name, self.page.url, faults)

    def tab(self, name: str) -> None:
        """A page of the engagement by its tab; those of another group show under the pointer."""
        with override("en"):
            group, tab = next((group, tab) for group in GROUPS for tab in group.tabs
                              if str(tab.title) == name)
        with override("en" if self.language == "en" else "zh-hans"):
            group_title, title = str(group.title), str(tab.title)
        groups = self.page.locator(".desk-groups .nav-tabs > .nav-item")
        here = self.page.locator(".desk-subtabs a").get_by_text(title, exact=True)
        if here.count():
            return self._lead_on(here)
        of_group = groups.filter(has=self.page.locator(".nav-link").get_by_text(
            group_title, exact=True))
        listed = of_group.locator(".desk-group-pages a").get_by_text(title, exact=True)
        of_group.hover()
        if listed.count() and listed.first.is_visible():
            return self._lead_on(listed)
        self._lead_on(of_group.locator(".nav-link"))  # one page, or a window that shows no list
        if tab is not group.tabs[0]:
            self._lead_on(self.page.locator(".desk-subtabs a").get_by_text(title, exact=True))
        return None

    def counted(self, name: str, many: str, n: int) -> str:
        """What the window shows for words that hold a number."""
        with override("en" if self.language == "en" else "zh-hans"):
            return ngettext(name, many, n) % {"n": n}

    def fill(self, values: dict) -> None:
        """Fill fields by their labels: text, choice, date, file or tick."""
        for label, value in values.items():
            field = self.field(label)
            kind = field.evaluate("e => e.tagName == 'SELECT' ? 'select' : e.type")
            if kind == "select":
                self.choose(field, str(value))
            elif kind == "file":
                field.set_input_files(value)
            elif kind in ("checkbox", "radio"):
                field.set_checked(value)
            else:
                field.fill(str(value))
            self.counts[self.part].update(fields=1, picks=PICKS.get(kind, 0))

    def tick(self, words: str) -> None:
        """Tick the first box whose label holds the words."""
        self.page.get_by_role("checkbox", name=words).first.check()
        self.counts[self.part].update(fields=1, picks=1)

    def field(self, label: str):
        message = re.compile(rf"^\s*{re.escape(self.word(label))}\s*\*?\s*$", re.IGNORECASE)
        found = self.page.get_by_label(message).locator("visible=true")
        assert found.count(), f"no field “{self.word(label)}” on {self.page.url}"
        return found.first

    def choose(self, field, value: str) -> None:
        """The option that reads so, else the first whose words hold it."""
        options = field.locator("option").evaluate_all(
            "all => all.map(o => [o.value, o.textContent.trim()])")
        message = self.word(value)
        exact = [v for v, text in options if text == message]
        field.select_option((exact or [v for v, text in options if message in text])[0])

    def download(self, name: str, path) -> None:
        with self.page.expect_download() as file:
            self.seen(name).click()
        file.value.save_as(path)
        self.counts[self.part].update(clicks=1)

    def text(self) -> str:
        return self.page.get_by_role("main").inner_text()

    def shot(self, name: str) -> None:
        """Keep a picture, where one is asked for; the page fits its window."""
        assert not self.wide(), f"{self.page.url} is wider than its window"
        if SHOTS:
            self.page.screenshot(path=f"{SHOTS}/{self.language}-{name}.png", full_page=True)

    def table(self) -> str:
        """Clicks, fields and pages of each part, and of the whole without signing in."""
        rows = [(part, *(count[kind] for kind in KINDS)) for part, count in self.counts.items()]
        whole = [row for row in rows if row[0] != "sign-in"]
        rows.append(("whole, without sign-in",
                     *(sum(row[i] for row in whole) for i in range(1, len(KINDS) + 1))))
        return "\n".join(f"{part:<32}" + "".join(f"{figure:>8}" for figure in figures)
                         for part, *figures in [("", *KINDS), *rows])
