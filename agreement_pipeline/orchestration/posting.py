"""Posting a message to a URL that is a secret: it stands in no error and in no log."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, NoReturn

from agreement_pipeline.errors import ProjectError

SECONDS = 10
HTTP = ("https://", "http://")


class NotPostedError(Exception):
    """The message was not taken. The text says why, without the URL."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would turn the message into a request without content."""

    def redirect_request(self, *_: Any) -> None:
        return None


def checked_url(variable: str, environment: Mapping[str, str]) -> str:
    """The URL that an environment variable holds.

    Raises
    ------
    ProjectError
        It holds none. The error does not repeat what it holds.
    """
    url = environment.get(variable, "").strip()
    if not url.startswith(HTTP):
        found = "something else than a URL" if url else "nothing"
        raise ProjectError(
            f"environment variable {variable}: found {found}; expected a URL that begins with "
            "https://. Set it where the Dagster daemon runs."
        )
    return url


def post(url: str, body: Mapping[str, Any]) -> None:
    """Post a message as JSON, and wait until it is taken.

    Raises
    ------
    NotPostedError
        Nobody took it.
    """
    try:
        request = urllib.request.Request(
            url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=SECONDS):
            return
    except urllib.error.HTTPError as error:
        error.close()
        _refuse(f"the server answered {error.code}")
    except urllib.error.URLError as error:
        _refuse(f"no answer ({type(error.reason).__name__})")
    except (OSError, HTTPException, ValueError) as error:
        _refuse(f"no answer ({type(error).__name__})")


def _refuse(why: str) -> NoReturn:
    raise NotPostedError(why) from None
