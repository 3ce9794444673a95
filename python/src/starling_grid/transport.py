"""Requests to a project's HTTP API: headers, repetition and errors."""

from __future__ import annotations

import email.utils
import http.client
import io
import json
import logging
import random
import shutil
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any, Optional, Union

from .errors import GridError, Refused, Unreachable

log = logging.getLogger("starling_grid")

FOREVER = float("inf")

# Seconds after which a request that the project has never answered fails if the project cannot be
# reached at all, so that a wrong address is reported soon.
_FIRST_CONTACT = 10.0

# Seconds between the first two attempts, and between any two, at most. Each pause is about twice the
# one before.
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0

# Seconds without any data after which an attempt has failed.
_SILENCE = 60.0

# Advice by status, for answers that have none.
_ADVICE = {
    401: "check the token, or ask the project's operator for a new one",
    403: "ask the project's operator which applications the token is for",
    404: "check that the URL is the project's, for example https://project.example/. If it is, "
    "the project's server is of a version that does not have this request",
    413: "send less at once: give large inputs as files",
    422: "correct the jobs and send them again",
    429: "wait until some jobs are finished, or cancel a batch",
}

# Errors of a connection, but not of the files that are sent and received.
_CONNECTION = (
    urllib.error.URLError,
    http.client.HTTPException,
    ConnectionError,
    TimeoutError,
    socket.timeout,
    ssl.SSLError,
)

Body = Union[bytes, Path]


class _Secret(str):
    """A token, which is not shown where values are printed, such as in detailed tracebacks."""

    def __repr__(self) -> str:
        return "'(secret)'"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects, so that inputs go nowhere but to the project."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Transport:
    """Sends requests to one project. It is safe for concurrent use.

    A request is repeated for `patience` seconds while the project cannot be reached or is
    temporarily unable to answer. Every request may be repeated: no batch is made twice.
    """

    def __init__(self, url: str, token: str, patience: float) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ValueError("the URL is not a project's: give one like https://project.example/")
        if not token.isascii() or not token.isprintable():
            raise ValueError("the token has characters that no token has: copy it again")
        self.url = url.rstrip("/") + "/"
        self.patience = patience
        self._token = _Secret(token)
        self._opener = urllib.request.build_opener(_NoRedirects())
        self._answered = False

    def call(self, method: str, path: str, body: Any = None, patience: Optional[float] = None) -> Any:
        """Sends a request with a body in JSON, if there is one, and returns the decoded answer."""
        data = None if body is None else json.dumps(body).encode()
        return self._decode(self.fetch(method, path, data, patience=patience))

    def upload(self, path: str, content: Body) -> None:
        """Stores a file."""
        self.fetch("PUT", path, content)

    def fetch(
        self, method: str, path: str, body: Optional[Body] = None, patience: Optional[float] = None
    ) -> bytes:
        """Sends a request and returns the answer."""
        into = io.BytesIO()
        self.save(path, into, method, body, patience)
        return into.getvalue()

    def save(
        self,
        path: str,
        into: IO[bytes],
        method: str = "GET",
        body: Optional[Body] = None,
        patience: Optional[float] = None,
    ) -> None:
        """Sends a request and writes the answer into an open, seekable file."""
        if patience is None:
            patience = self.patience
        start = time.monotonic()
        attempt = 0
        while True:
            into.seek(0)
            into.truncate()
            try:
                self._once(method, path, body, into)
                return
            except _Temporary as e:
                pause = max(e.pause, random.uniform(0.5, 1) * min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE))
                spent = time.monotonic() - start
                left = (patience if self._answered else min(patience, _FIRST_CONTACT)) - spent
                if pause > left:
                    raise e.error from e.__cause__
                if attempt == 0:
                    log.warning("%s. Trying again.", e.error)
            attempt += 1
            time.sleep(pause)

    def _once(self, method: str, path: str, body: Optional[Body], into: IO[bytes]) -> None:
        """Makes one attempt."""
        request = urllib.request.Request(self.url + "api/v1/" + path, method=method)
        request.add_header("User-Agent", "starling_grid")
        request.add_unredirected_header("Authorization", _Secret("Bearer " + self._token))
        if body is not None:
            kind = "application/json" if method == "POST" else "application/octet-stream"
            request.add_header("Content-Type", kind)
        content: Optional[IO[bytes]] = None
        try:
            if isinstance(body, Path):
                content = body.open("rb")
                request.add_header("Content-Length", str(body.stat().st_size))
                request.data = content
            elif body is not None:
                request.data = body
            with self._opener.open(request, timeout=_SILENCE) as answer:
                self._answered = True
                shutil.copyfileobj(answer, into)
                if answer.length:  # of the announced bytes, some are missing
                    raise http.client.IncompleteRead(b"", answer.length)
        except urllib.error.HTTPError as e:
            self._answered = True
            raise self._refusal(e) from None
        except _CONNECTION as e:
            raise self._failure(e) from e
        finally:
            if content is not None:
                content.close()

    def _failure(self, e: Exception) -> Exception:
        """Returns the error for an attempt that brought no answer."""
        reason = e.reason if isinstance(e, urllib.error.URLError) else e
        if isinstance(reason, ssl.SSLCertVerificationError):
            return Unreachable(
                f"{self.url} has no valid certificate ({reason.verify_message}): check the URL, or name the file "
                "with your institution's certificates in the environment variable SSL_CERT_FILE"
            )
        text = str(reason) or type(reason).__name__
        return _Temporary(Unreachable(f"{self.url} does not answer ({text}): check the URL and your connection"))

    def _refusal(self, e: urllib.error.HTTPError) -> Exception:
        """Returns the error for an answer that is a refusal."""
        with e:
            try:
                answer = json.loads(e.read(1 << 20))
                reason, advice = str(answer["error"]), str(answer.get("cure", ""))
                job = answer.get("workunit")
            except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError):
                reason, advice, job = f"{self.url} answers {e.code} {e.reason}", "", None
        if 300 <= e.code < 400:
            advice = f"use the URL that it redirects to, {e.headers.get('Location', 'which it does not name')}"
        error = Refused(e.code, reason, advice or _ADVICE.get(e.code, ""), job)
        again = e.headers.get("Retry-After")
        if e.code in (502, 503, 504) or e.code == 429 and again:
            return _Temporary(error, _seconds(again))
        return error

    def _decode(self, answer: bytes) -> Any:
        try:
            return json.loads(answer)
        except ValueError:
            raise GridError(
                f"{self.url} does not answer as a project does: check that the URL is the project's"
            ) from None


class _Temporary(Exception):
    """An attempt failed, and another one in `pause` seconds may not."""

    def __init__(self, error: GridError, pause: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.pause = pause


def _seconds(again: Optional[str]) -> float:
    """Returns the seconds that a Retry-After header asks for, 0 if it is not understood."""
    if not again:
        return 0.0
    try:
        return max(0.0, float(again))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(again).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0
