"""Refusals of a real project, and a project that cannot answer."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
import traceback
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

import pytest
from conftest import Project, free_port

from starling_grid import Grid, GridError, JobError, Refused, Unreachable
from starling_grid.transport import Transport

# After this many seconds a test has failed.
LONG = 240


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are repeated after short pauses."""
    monkeypatch.setattr("starling_grid.transport._FIRST_PAUSE", 0.01)


def test_a_bad_token(project: Project) -> None:
    grid = Grid(project.url, "starling_secret")
    with pytest.raises(Refused, match="not known, or was revoked: ask the project's operator") as caught:
        grid.batches()
    assert caught.value.status == 401
    shown = "".join(traceback.format_exception(None, caught.value, caught.value.__traceback__))
    assert "starling_secret" not in shown + repr(grid) + repr(vars(grid._transport))


def test_a_message_does_not_control_the_terminal() -> None:
    text = "\x1b]0;title\x07\x9b2J\rover\u202eexe.txt"
    for error in (JobError("1", [], 1, "line\n" + text), Refused(422, text), GridError(text)):
        shown = str(error).replace("\n", "")
        assert shown.isprintable() and "title" in shown
        assert text not in "".join(traceback.format_exception(type(error), error, None))
    assert "café 日本\n\tindented" in str(GridError("café 日本\n\tindented"))


def test_a_token_for_another_application(project: Project) -> None:
    token = project.command("starling-server", "token", "create", str(project.directory), "narrow", "--app", "echo", "--quota", "1")
    grid = Grid(project.url, token)
    with pytest.raises(Refused, match='not for the application "shout": use one of echo') as caught:
        grid.map("shout", ["x"])
    assert caught.value.status == 403
    with pytest.raises(Refused, match="the batch has 2, and it may have 1: send smaller batches") as caught:
        grid.map("echo", ["x", "y"])
    assert caught.value.status == 429


def test_a_batch_of_somebody_else(grid: Grid) -> None:
    with pytest.raises(Refused, match="no batch 4711: GET batches lists those of this token") as caught:
        grid.batch(4711)
    assert caught.value.status == 404


def test_a_wrong_job(grid: Grid) -> None:
    with pytest.raises(Refused, match='"größe" is no name for a batch: use letters') as caught:
        grid.map("shout", ["x"], name="größe")
    assert caught.value.status == 422
    with pytest.raises(Refused, match="from 1 to 10000 workunits") as caught:
        grid.map("shout", [])
    with pytest.raises(Refused) as caught:
        grid.map("shout", ["x", {"in": "y", "more": "z"}], name="wrong")
    assert caught.value.job == 1
    with pytest.raises(GridError, match="of the 2 jobs of the batch wrong, since sending it was interrupted: call map again"):
        list(grid.batch("wrong"))


def test_a_request_that_is_too_large(transport: Transport) -> None:
    with pytest.raises(Refused, match="more than 67108864 bytes: send it in several batches") as caught:
        transport.call("POST", "batches", {"name": "x" * (65 << 20)})
    assert caught.value.status == 413


def test_mistakes_that_are_seen_at_once(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STARLING_URL", raising=False)
    with pytest.raises(ValueError, match="STARLING_URL"):
        Grid(token="x")
    with pytest.raises(ValueError, match="https://project.example/"):
        Grid("project.example", "x")
    with pytest.raises(TypeError, match="did you mean quorum"):
        grid.map("shout", ["x"], quorom=1)
    with pytest.raises(TypeError, match=r"input of job 1 is of the type int: .* convert it with str\(\)"):
        grid.map("shout", ["x", 2])  # type: ignore[list-item]


def test_no_batch_is_made_twice(impatient: None, programs: Path, tmp_path: Path) -> None:
    """A project that loses requests and answers has each batch once."""
    command = [str(programs / "starling-server"), "dev", "--jobs", "0", "--fault", "lose-request=0.1,lose-reply=0.1,cut=0.1,5xx=0.1"]
    with open(tmp_path / "log", "wb") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as server:
        try:
            assert server.stdout is not None
            described = json.loads(server.stdout.readline())
            grid = Grid(described["url"], described["token"])
            large = b"x" * (1 << 17)
            sent = [grid.map("echo", ["a", "b", large]) for _ in range(5)]
            assert sorted(batch.id for batch in sent) == sorted(batch.id for batch in grid.batches())
            assert [batch.progress().total for batch in sent] == [3] * 5
            sent[0].cancel()
            assert sent[0].wait(LONG).failed == 3
        finally:
            server.terminate()
    faults = (tmp_path / "log").read_text()
    assert "lose-reply" in faults


class Answers(http.server.BaseHTTPRequestHandler):
    """Gives the answers of a list, one for each request, and remembers the requests."""

    answers: List[Tuple[int, str, Optional[str]]] = []
    requests: List[Tuple[str, Optional[str]]] = []

    def do_GET(self) -> None:
        self.requests.append((self.path, self.headers.get("Authorization")))
        status, body, header = self.answers.pop(0)
        if status == 0:  # a connection that ends
            return
        self.send_response(status)
        if header:
            self.send_header(*header.split(": ", 1))
        self.send_header("Content-Length", str(len(body) + (1 if status == 299 else 0)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def answers() -> Iterator[Tuple[Grid, List[Tuple[int, str, Optional[str]]]]]:
    """A grid whose project gives prepared answers, and their list."""
    Answers.requests.clear()
    Answers.answers.clear()
    server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield Grid(f"http://127.0.0.1:{server.server_port}/p", "secret", patience=60), Answers.answers
    server.shutdown()
    thread.join()
    server.server_close()


EMPTY = json.dumps({"batches": []})


def test_a_request_is_repeated(impatient: None, answers: Tuple[Grid, List[Tuple[int, str, Optional[str]]]]) -> None:
    grid, queue = answers
    queue += [(503, "", "Retry-After: 0"), (0, "", None), (502, "<html>", None), (299, EMPTY, None), (200, EMPTY, None)]
    assert grid.batches() == []
    assert len(Answers.requests) == 5
    assert set(Answers.requests) == {("/p/api/v1/batches", "Bearer secret")}


def test_patience_ends(answers: Tuple[Grid, List[Tuple[int, str, Optional[str]]]]) -> None:
    grid, queue = answers
    queue += [(503, '{"error": "the project is busy", "cure": "try later"}', "Retry-After: 3600")]
    with pytest.raises(Refused, match="the project is busy: try later"):
        grid.batches()
    queue += [(429, '{"error": "too many"}', None)]
    with pytest.raises(Refused, match="too many: wait until some jobs are finished"):
        grid.batches()


def test_the_token_follows_no_redirect(answers: Tuple[Grid, List[Tuple[int, str, Optional[str]]]]) -> None:
    grid, queue = answers
    queue += [(301, "", "Location: https://elsewhere.example/p/")]
    with pytest.raises(Refused, match="use the URL that it redirects to, https://elsewhere.example/p/"):
        grid.batches()


def test_something_else_answers(answers: Tuple[Grid, List[Tuple[int, str, Optional[str]]]]) -> None:
    grid, queue = answers
    queue += [(200, "<html>", None), (404, "<html>", None)]
    with pytest.raises(GridError, match="does not answer as a project does"):
        grid.batches()
    with pytest.raises(Refused, match="check that the URL is the project's.* a version that does not have this request"):
        grid.batches()


def test_an_address_without_a_server() -> None:
    with pytest.raises(Unreachable, match="Connection refused.*check the URL"):
        Grid(f"http://127.0.0.1:{free_port()}/", "secret", patience=1).batches()
