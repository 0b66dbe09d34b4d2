"""Host, Origin, token and headers of the web app, without any game."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from rookery.interface.web.security import COOKIE, HEADERS, is_loopback
from rookery.interface.web.site import Site
from web_client import HOST, client_of

TOKEN = "a token of this test"


@pytest.fixture(scope="module")
def local() -> Iterator[TestClient]:
    with client_of() as client:
        yield client


@pytest.fixture(scope="module")
def remote() -> Iterator[TestClient]:
    with client_of(Site(host="0.0.0.0", token=TOKEN)) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/api/games", "/static/main.js", "/nowhere"])
def test_every_answer_has_the_security_headers(local: TestClient, path: str) -> None:
    found = local.get(path).headers
    assert {name: found[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in found["content-security-policy"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "10.0.0.1", "", "[", "a b"])
def test_a_name_of_another_host_is_refused_on_loopback(local: TestClient, host: str) -> None:
    assert local.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:8765"])
def test_names_of_loopback_are_answered(local: TestClient, host: str) -> None:
    assert local.get("/", headers={"host": host}).status_code == 200


def test_a_server_for_others_answers_to_addresses_but_not_to_foreign_names(
    remote: TestClient,
) -> None:
    assert remote.get("/", headers={"host": "10.0.0.1:8765"}).status_code == 401
    assert remote.get("/", headers={"host": "evil.example"}).status_code == 403


ORIGINS = [
    "",
    "null",
    "http://evil.example",
    f"http://evil.example#{HOST}",
    f"ftp://{HOST}",
    "http:[",
]


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_change_nothing(local: TestClient, origin: str) -> None:
    for path in ("/api/games/read", "/api/runs", "/api/runs/x/stop"):
        assert local.post(path, json={}, headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_open_no_socket(local: TestClient, origin: str) -> None:
    with (
        pytest.raises(WebSocketDisconnect),
        local.websocket_connect("/api/play", headers={"origin": origin}),
    ):
        pass


def test_the_page_itself_may_ask(local: TestClient) -> None:
    asked = {"game": "tictactoe", "text": "5 1"}
    assert local.post("/api/games/read", json=asked).json() == {"start": "", "moves": ["5", "1"]}


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/games", "/?token=wrong"])
def test_nothing_is_shown_without_the_token(remote: TestClient, path: str) -> None:
    answer = remote.get(path)
    assert answer.status_code == 401 and "token" in answer.json()["error"]


@pytest.mark.parametrize("cookie", ["", "x", f"{TOKEN}x", "\\303\\244", '"', "a=b; ;;", TOKEN[:-1]])
def test_a_wrong_cookie_is_no_token(remote: TestClient, cookie: str) -> None:
    headers = {"cookie": f"{COOKIE}={cookie}"}
    assert remote.get("/api/games", headers=headers).status_code == 401
    with (
        pytest.raises(WebSocketDisconnect),
        remote.websocket_connect("/api/play", headers=headers),
    ):
        pass


def test_the_token_in_the_address_becomes_a_cookie_that_opens_the_rest(remote: TestClient) -> None:
    answer = remote.get("/", params={"token": TOKEN, "x": "1"})
    assert answer.status_code == 303 and answer.headers["location"] == "/?x=1"
    cookie = answer.headers["set-cookie"]
    assert "httponly" in cookie.lower() and "samesite=strict" in cookie.lower()
    assert answer.headers["referrer-policy"] == "no-referrer"
    headers = {"cookie": cookie.partition(";")[0]}
    remote.cookies.clear()
    assert remote.get("/api/games", headers=headers).status_code == 200
    with remote.websocket_connect("/api/play", headers=headers) as socket:
        socket.send_text("{}")
        assert "error" in socket.receive_json()


def test_the_login_never_leads_to_another_host(remote: TestClient) -> None:
    answer = remote.get("//evil.example/", params={"token": TOKEN})
    remote.cookies.clear()
    assert not answer.headers.get("location", "/").startswith("//")


PATHS = [
    "/static/../app.py",
    "/static/%2e%2e/app.py",
    "/static/..%2fapp.py",
    "/static//etc/passwd",
    "/static/%2fetc/passwd",
    "/static/\\..\\app.py",
    "/static/%00",
    "/static/" + "a" * 5000,
    "/api/runs/..%2f..%2fetc",
    "/api/runs/%2e%2e/stats",
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:30])
def test_no_path_leads_out_of_the_folders(local: TestClient, path: str) -> None:
    answer = local.get(path)
    assert 400 <= answer.status_code < 500 and "error" in answer.json()


def test_a_link_out_of_a_given_folder_is_no_run(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "run.json").write_text("{}")
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "link").symlink_to(secret)
    with client_of(Site(folders=[tmp_path / "given"])) as client:
        assert client.get("/api/runs").json() == []
        assert client.get("/api/runs/link").status_code == 404
        assert client.get("/api/runs/secret").status_code == 404


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.8.8.8"])
def test_loopback_needs_no_token(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_any_other_address_needs_one(host: str) -> None:
    assert not is_loopback(host)
