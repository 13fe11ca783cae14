"""A Redmine as the site of the same crowd: lists, a project's pages, the API, a form sent."""

import hashlib
import re

import psycopg

from benchmarks.load.crowd import Log, Person, Site

PROJECTS, ISSUES, USERS, PER_USER = 10_000, 50, 1_500, 7
PASSWORD, SALT = "Practice-2026", "0123456789abcdef0123456789abcdef"
# Statements of a world as large as the portal's: a project for an engagement, an issue for a job.
FILL = """
insert into users (login, hashed_password, salt, firstname, lastname, status, type, language,
                   mail_notification, created_on, updated_on)
  select 'load-' || n, %(password)s, %(salt)s, 'Load', 'User ' || n, 1, 'User', 'en', 'none',
         now(), now() from generate_series(1, %(users)s) n;
insert into email_addresses (user_id, address, is_default, notify, created_on, updated_on)
  select id, login || '@example.test', true, false, now(), now() from users
  where login like 'load-%%';
insert into tokens (user_id, action, value, created_on, updated_on)
  select id, 'api', md5(login), now(), now() from users where login like 'load-%%';
insert into projects (name, identifier, is_public, status, lft, rgt, created_on, updated_on)
  select 'Project ' || n, 'load-' || n, false, 1, 2 * n - 1, 2 * n, now(), now()
  from generate_series(1, %(projects)s) n;
insert into enabled_modules (project_id, name)
  select id, module from projects, unnest(array['issue_tracking', 'time_tracking', 'gantt',
                                                'calendar', 'news', 'documents', 'files']) module;
insert into projects_trackers (project_id, tracker_id)
  select p.id, t.id from projects p, trackers t;
insert into members (user_id, project_id, created_on)
  select u.id, p.id, now() from projects p join users u on u.login like 'load-%%'
  and p.id %% (%(projects)s / %(per_user)s) = u.id %% (%(projects)s / %(per_user)s);
insert into member_roles (member_id, role_id) select id, (select id from roles where name =
  'Manager') from members;
insert into issues (tracker_id, project_id, subject, description, status_id, priority_id,
                    author_id, created_on, updated_on, start_date, root_id, lft, rgt)
  select (select min(id) from trackers), p.id, 'Issue ' || n, 'As measured', 1 + n %% 5,
         1 + n %% 4, (select min(id) from users where login like 'load-%%'),
         now() - n * interval '1 day', now() - n * interval '1 hour', current_date, 0, 1, 2
  from projects p, generate_series(1, %(issues)s) n;
update issues set root_id = id;
insert into settings (name, value, updated_on) values ('rest_api_enabled', '1', now());
"""


class Member(Person):
    """A member of some projects."""

    token = re.compile(r'name="authenticity_token" value="([^"]+)"')
    token_field = "authenticity_token"

    def __init__(self, base: str, row: tuple[str, str], *more) -> None:
        username, self.project = row
        self.key = hashlib.md5(username.encode()).hexdigest()
        super().__init__(base, username, *more)

    def log_in(self) -> int:
        return self.send("/login", "/login", {"username": self.username, "password": PASSWORD})

    def turns(self) -> dict:
        of = f"/projects/{self.project}"
        return {
            "list": lambda: self.get("/my/page", "/projects", "/issues", "/time_entries", "/news",
                                     "/activity", f"/search?q={self.project}"),
            "engagement": lambda: self.get(of, of + "/issues", of + "/issues/gantt",
                                           of + "/activity", of + "/settings"),
            "board": lambda: self.get("/issues?set_filter=1&f[]=status_id&op[status_id]=o"
                                      "&group_by=status"),
            "API poll": lambda: self.get(
                f"/issues.json?project_id={self.project}&key={self.key}"),
            "write": self.write}

    def write(self) -> int:
        return self.send(f"/projects/{self.project}/issues/new",
                         f"/projects/{self.project}/issues",
                         {"issue[tracker_id]": "1", "issue[subject]": f"load {self.username}",
                          "issue[status_id]": "1", "issue[priority_id]": "2"})


class Redmine(Site):
    """A server that is running; its database is filled where it holds no project."""

    name = "Redmine"

    def __init__(self, base: str, database: str, projects: int | None) -> None:
        self.base, self.database = base.rstrip("/"), database
        with psycopg.connect(database, autocommit=True) as connection:
            if not connection.execute("select 1 from projects limit 1").fetchone():
                _fill(connection, projects or PROJECTS)

    def crowd(self, users: int, log: Log, ends: float, think: float) -> list[Person]:
        with psycopg.connect(self.database) as connection:
            rows = connection.execute(
                "select u.login, min(p.identifier) from users u join members m on m.user_id = u.id "
                "join projects p on p.id = m.project_id where u.login like 'load-%%' "
                "group by u.id, u.login order by u.id limit %s", [users]).fetchall()
        return [Member(self.base, row, log, ends, think) for row in rows]


def _fill(connection: psycopg.Connection, projects: int) -> None:
    inner = hashlib.sha1(PASSWORD.encode()).hexdigest()  # as Redmine keeps passwords
    words = {"password": hashlib.sha1((SALT + inner).encode()).hexdigest(), "salt": SALT,
             "users": USERS, "projects": projects, "per_user": PER_USER, "issues": ISSUES}
    with connection.transaction():
        for statement in FILL.split(";\n"):
            if statement.strip():
                connection.execute(statement, words)
    connection.execute("vacuum analyze")
