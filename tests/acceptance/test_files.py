"""Files, changes, uploads, artifacts and previews over HTTP: everything inside the session's folder, nothing outside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.tooling.hub_process import HubProcess, Session, own_environment, types_of
from tests.tooling.processes import eventually
from tests.tooling.wire import Reply


@pytest.fixture
def puppet(hub: HubProcess) -> Iterator[Session]:
    """A session with the agent that does exactly what it is told; a rule lets it write and run through the hub."""
    session = hub.new_session("trusted")
    yield session
    session.delete()


def get(session: Session, what: str, **query: str) -> Reply:
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
    return session.wire.ask("GET", f"{session.path}/{what}?{asked}")


@pytest.fixture
def filled(session: Session) -> Session:
    """A session whose folder has something in it, and links that lead out."""
    (session.folder / "src").mkdir()
    (session.folder / "src" / "main.py").write_text("print('hello')\n")
    (session.folder / "README.md").write_text("# Read me\n")
    (session.folder / "page.html").write_text("<script>alert(1)</script>")
    (session.folder / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    secret = session.folder.parent / f"{session.folder.name}-outside"
    secret.mkdir()
    (secret / "secret.txt").write_text("secret")
    (session.folder / "link.txt").symlink_to(secret / "secret.txt")
    (session.folder / "linked").symlink_to(secret)
    return session


def test_a_folder_is_listed_with_folders_first(filled: Session) -> None:
    listing = get(filled, "files").expect(200)
    assert [entry["name"] for entry in listing["entries"]] == ["src", "dot.png", "link.txt", "linked", "page.html", "README.md"]
    inner = get(filled, "files", path="src").expect(200)
    assert [(entry["path"], entry["isDirectory"], entry["size"]) for entry in inner["entries"]] == [("src/main.py", False, 15)]


def test_a_file_is_sent_with_its_bytes_and_never_as_a_page(filled: Session) -> None:
    answer = get(filled, "files/content", path="README.md")
    assert (answer.status, answer.body) == (200, b"# Read me\n")
    page = get(filled, "files/content", path="page.html")
    assert page.body == b"<script>alert(1)</script>"
    assert page.headers["content-type"].startswith("text/plain")
    assert "sandbox" in page.headers["content-security-policy"]
    assert get(filled, "files/content", path="dot.png").headers["content-type"] == "image/png"


def test_a_part_of_a_file_can_be_asked_for(filled: Session) -> None:
    answer = filled.wire.ask("GET", f"{filled.path}/files/content?path=README.md", headers={"Range": "bytes=2-5"})
    assert (answer.status, answer.body) == (206, b"Read")
    assert answer.headers["content-range"] == "bytes 2-5/10"


def test_files_are_found_by_a_part_of_their_path(filled: Session) -> None:
    found = get(filled, "files/find", q="MAIN").expect(200)
    assert [file["path"] for file in found["files"]] == ["src/main.py"]
    assert get(filled, "files/find", q="secret").expect(200)["files"] == [], "links are not followed"
    assert get(filled, "files/find").status == 400


@pytest.mark.parametrize("path", [
    "../{name}-outside/secret.txt", "link.txt", "linked/secret.txt", "/etc/passwd", "src/../../{name}-outside/secret.txt",
    "..", "src/..", "..\\secret", "{folder}/../{name}-outside/secret.txt", "linked",
])
def test_no_path_leads_out_of_the_folder(filled: Session, path: str) -> None:
    path = path.format(name=filled.folder.name, folder=filled.folder)
    for what in ("files", "files/content"):
        answer = get(filled, what, path=path)
        assert answer.expect(403)["code"] == "forbidden", (what, path)
    upload = filled.wire.ask("POST", f"{filled.path}/files?path={quote(path)}", b"overwritten")
    assert upload.status == 403
    assert (filled.folder.parent / f"{filled.folder.name}-outside" / "secret.txt").read_text() == "secret"


@pytest.mark.parametrize(("path", "status"), [
    ("none.txt", 404), ("src", 400), ("a\0b", 400), ("x" * 300, 400), ("README.md/x", 404),
])
def test_a_path_that_is_no_file_is_refused_with_a_reason(filled: Session, path: str, status: int) -> None:
    answer = get(filled, "files/content", path=path)
    assert answer.expect(status)["message"]


def test_a_pipe_in_the_folder_does_not_hang_the_hub(filled: Session) -> None:
    os.mkfifo(filled.folder / "pipe")
    assert get(filled, "files/content", path="pipe").expect(403)["message"] == "pipe is not a plain file"
    assert get(filled, "files").status == 200


def test_one_file_is_uploaded_as_the_body(session: Session) -> None:
    made = session.wire.ask("POST", f"{session.path}/files?path=deep/down/a.bin", b"\0\1\2").expect(201)
    assert made == {"files": [{"name": "a.bin", "path": "deep/down/a.bin", "size": 3}]}
    assert (session.folder / "deep" / "down" / "a.bin").read_bytes() == b"\0\1\2"


def test_a_form_uploads_several_files_and_overwrites_none(session: Session) -> None:
    (session.folder / "b.txt").write_text("mine")
    parts = [("a.txt", b"one"), ("b.txt", b"two"), ("../../evil name.sh", b"three")]
    body = b"".join(
        b'--XX\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n%b\r\n' % (name.encode(), data)
        for name, data in parts) + b"--XX--\r\n"
    form = {"Content-Type": "multipart/form-data; boundary=XX"}
    made = session.wire.ask("POST", f"{session.path}/files", body, form).expect(201)
    assert [file["path"] for file in made["files"]] == ["a.txt", "b_1.txt", "evil_name.sh"]
    assert (session.folder / "b.txt").read_text() == "mine"
    assert (session.folder / "b_1.txt").read_text() == "two"
    assert sorted(path.name for path in session.folder.iterdir()) == ["a.txt", "b.txt", "b_1.txt", "evil_name.sh"]


def test_an_upload_that_is_too_large_leaves_nothing(session: Session) -> None:
    answer = session.wire.ask("POST", f"{session.path}/files?path=big.bin", b"x", {"Content-Length": str(60 << 20)})
    assert answer.expect(413)["code"] == "too_large"
    assert list(session.folder.iterdir()) == []


def test_an_upload_that_breaks_off_leaves_nothing(session: Session) -> None:
    with pytest.raises(TimeoutError):
        session.wire.ask("POST", f"{session.path}/files?path=half.bin", b"only this", {"Content-Length": "1000"}, wait_s=0.3)
    eventually(lambda: not list(session.folder.iterdir()), "the half file is gone")


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(["git", *author, *words], cwd=folder, env=own_environment(folder), check=True, capture_output=True)


def test_the_diff_of_a_repository_shows_changed_new_and_deleted_files(session: Session) -> None:
    git(session.folder, "init", "-q")
    (session.folder / "kept.txt").write_text("one\ntwo\n")
    (session.folder / "gone.txt").write_text("gone\n")
    git(session.folder, "add", ".")
    git(session.folder, "commit", "-q", "-m", "first")
    (session.folder / "kept.txt").write_text("one\nTWO\n")
    (session.folder / "gone.txt").unlink()
    (session.folder / "new.txt").write_text("new\n")
    diff = session.wire.get(f"{session.path}/diff")
    assert diff["base"] == "HEAD"
    assert {(file["path"], file["status"]) for file in diff["files"]} == {
        ("kept.txt", "modified"), ("gone.txt", "deleted"), ("new.txt", "added")}
    assert "-two\n+TWO\n" in diff["diff"] and "+new\n" in diff["diff"]


def test_the_diff_of_a_folder_without_a_repository_shows_what_the_agent_told(puppet: Session) -> None:
    path = str(puppet.folder / "told.txt")
    (puppet.folder / "told.txt").write_text("old\n")
    call = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "edit", "kind": "edit", "status": "completed",
            "content": [{"type": "diff", "path": path, "oldText": "old\n", "newText": "new\n"}]}
    (puppet.folder / "told.txt").write_text("new\n")
    puppet.say(json.dumps([["update", call]]))
    diff = puppet.wire.get(f"{puppet.path}/diff")
    assert diff["base"] == "session"
    assert [file["path"] for file in diff["files"]] == ["told.txt"]
    assert "-old\n+new\n" in diff["diff"]


# Artifacts and previews


def made(packets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [packet["artifact"] for packet in packets if packet["type"] == "artifact_created"]


def test_a_file_that_the_agent_created_is_an_artifact_before_the_turn_ends(puppet: Session) -> None:
    (puppet.folder / "before.txt").write_text("was there before")
    puppet.say(json.dumps([["say", "I make nothing"]]))
    packets = puppet.say(json.dumps([
        ["ask", "fs/write_text_file", {"path": str(puppet.folder / "note.txt"), "content": "hello"}],
        ["update", {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "write", "kind": "edit", "status": "completed"}]]))
    assert [(artifact["type"], artifact["path"]) for artifact in made(packets)] == [("file", "note.txt")]
    assert types_of(packets).index("artifact_created") < types_of(packets).index("prompt_response")
    listed = puppet.wire.get(f"{puppet.path}/artifacts")
    assert [artifact["id"] for artifact in listed] == [made(packets)[0]["id"]]
    assert puppet.wire.get(f"{puppet.path}/artifacts/{listed[0]['id']}") == listed[0]
    assert puppet.wire.ask("GET", f"{puppet.path}/artifacts/none").expect(404)["code"] == "not_found"


def test_two_sessions_that_work_in_one_folder_at_a_time_have_each_its_own_artifacts(hub: HubProcess, tmp_path: Path) -> None:
    one = hub.new_session("trusted")
    other, go = hub.new_session("trusted", one.folder), tmp_path / "go"
    for session, name in ((one, "one.txt"), (other, "other.txt")):
        session.post("send-message", {"content": json.dumps([
            ["ask", "fs/write_text_file", {"path": str(one.folder / name), "content": name}], ["await", str(go)]])}, 202)
    eventually(lambda: (one.folder / "one.txt").exists() and (one.folder / "other.txt").exists(), "both have written")
    go.write_text("")
    eventually(lambda: one.view()["turn"] is None and other.view()["turn"] is None, "both are done")
    assert [[each["path"] for each in session.wire.get(f"{session.path}/artifacts")] for session in (one, other)] == [
        ["one.txt"], ["other.txt"]]
    one.delete()
    other.delete()


def tool(kind: str, status: str, said: dict[str, Any]) -> list[Any]:
    """A call of an agent's, as it begins or ends."""
    what = "tool_call_update" if status == "completed" else "tool_call"
    return ["update", {"sessionUpdate": what, "toolCallId": "c", "title": kind, "kind": kind, "status": status, "rawInput": said}]


def script(folder: Path, name: str, code: str) -> list[str]:
    """The words that run a program whose name says nothing of what it makes."""
    (folder / name).write_text(code)
    return [sys.executable, str(folder / name)]


def paths(session: Session) -> list[str]:
    return [each["path"] for each in session.wire.get(f"{session.path}/artifacts")]


@pytest.mark.parametrize("looked_at", ["README.md", "made.csv"])
def test_what_a_command_makes_without_naming_it_is_not_the_artifact_of_who_only_looked(
        hub: HubProcess, tmp_path: Path, looked_at: str) -> None:
    one = hub.new_session("trusted")
    other, go = hub.new_session("trusted", one.folder), tmp_path / "go"
    made_file = one.folder / "made.csv"
    run_it = script(tmp_path, "build.py", f"open({str(made_file)!r}, 'w').write('1')")
    one.post("send-message", {"content": json.dumps([
        tool("execute", "in_progress", {"command": "python build.py"}), ["run", run_it],
        tool("execute", "completed", {"command": "python build.py"}), ["await", str(go)]])}, 202)
    look = {"path": str(one.folder / looked_at)}
    other.say(json.dumps([tool("read", "in_progress", look), ["await", str(made_file)], tool("read", "completed", look)]))
    assert paths(other) == []
    go.write_text("")
    eventually(lambda: one.view()["turn"] is None, "it is done")
    assert paths(one) == ["made.csv"]
    one.delete()
    other.delete()


def test_of_two_sessions_that_run_commands_a_file_is_of_the_one_whose_command_ran_when_it_came(
        hub: HubProcess, tmp_path: Path) -> None:
    one = hub.new_session("trusted")
    other, go = hub.new_session("trusted", one.folder), tmp_path / "go"
    made_file = one.folder / "made.csv"
    other.post("send-message", {"content": json.dumps([
        tool("execute", "in_progress", {"command": "make lint"}), tool("execute", "completed", {"command": "make lint"}),
        ["await", str(made_file)]])}, 202)
    eventually(lambda: '"completed"' in json.dumps(other.wire.get(f"{other.path}/messages?limit=100")), "its command is over")
    run_it = script(tmp_path, "build.py", f"open({str(made_file)!r}, 'w').write('1')")
    one.post("send-message", {"content": json.dumps([
        tool("execute", "in_progress", {"command": "make"}), ["run", run_it], ["await", str(go)]])}, 202)
    eventually(lambda: other.view()["turn"] is None, "the other is done first")
    assert paths(other) == []
    go.write_text("")
    eventually(lambda: one.view()["turn"] is None, "it is done")
    assert paths(one) == ["made.csv"]
    one.delete()
    other.delete()


def test_what_another_session_made_before_a_turn_is_not_its_artifact_when_it_is_changed(hub: HubProcess) -> None:
    one = hub.new_session("trusted")
    other = hub.new_session("trusted", one.folder)
    other.say(json.dumps([["say", "I am here already"]]))
    make(one, {"report.txt": "of one"})
    assert make(other, {"report.txt": "and other", "mine.txt": "1"})[0]["path"] == "mine.txt"
    assert (paths(one), paths(other)) == (["report.txt"], ["mine.txt"])
    one.delete()
    other.delete()


def make(puppet: Session, files: dict[str, str]) -> list[dict[str, Any]]:
    """The agent writes these files in one turn; returns the artifacts that are told."""
    asks = [["ask", "fs/write_text_file", {"path": str(puppet.folder / name), "content": text}] for name, text in files.items()]
    call = ["update", {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "write", "kind": "edit", "status": "completed"}]
    return made(puppet.say(json.dumps([*asks, call])))


def test_an_artifact_that_changes_keeps_its_id_and_gets_a_new_version(puppet: Session) -> None:
    (first,) = make(puppet, {"note.txt": "one"})
    (second,) = make(puppet, {"note.txt": "two"})
    assert second["id"] == first["id"]
    assert puppet.wire.get(f"{puppet.path}/artifacts")[0]["version"] == 2
    assert make(puppet, {"note.txt": "two"}) == [], "the same bytes again are no news"


def test_artifacts_keep_their_ids_over_a_restart(new_hub: Any) -> None:
    hub = new_hub()
    session = hub.new_session("trusted")
    (artifact,) = make(session, {"note.txt": "one"})
    hub.restart()
    (kept,) = session.wire.get(f"{session.path}/artifacts")
    assert kept["id"] == artifact["id"]
    (again,) = make(session, {"note.txt": "two"})
    assert again["id"] == artifact["id"]


def test_apps_and_images_are_told_apart_by_what_is_in_the_folder(puppet: Session) -> None:
    artifacts = make(puppet, {
        "site/index.html": "<h1>Hi</h1>", "site/app.js": "1", "shop/package.json": '{"dependencies": {"next": "15"}}',
        "shop/pages/index.js": "1", "picture.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>", "notes.md": "x",
    })
    assert {artifact["path"]: artifact["type"] for artifact in artifacts} == {
        "site": "web_app", "shop": "nextjs_app", "picture.svg": "image", "notes.md": "file"}
    previews = {artifact["path"]: artifact["preview_url"] for artifact in artifacts}
    assert previews["shop"] is None, "an app without static output has no preview"
    assert all(previews[path].startswith("/preview/") for path in ("site", "picture.svg", "notes.md"))


def preview(session: Session, url: str, **headers: str) -> Reply:
    """What somebody without any credential sees."""
    return session.wire.as_nobody().ask("GET", url, headers=headers)


def test_a_preview_needs_only_its_address_and_runs_as_nobody(puppet: Session) -> None:
    (artifact,) = make(puppet, {"site/index.html": "<script src=app.js></script>", "site/app.js": "alert(1)"})
    url = artifact["preview_url"]
    key = url.split("/")[2]
    assert len(key) * 4 >= 128 and int(key, 16)
    page = preview(puppet, url)
    assert (page.status, page.body) == (200, b"<script src=app.js></script>")
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "sandbox; " in policy and "script-src 'none'" in policy and "allow-same-origin" not in policy
    assert preview(puppet, url + "app.js").body == b"alert(1)"
    assert "set-cookie" not in page.headers


def test_a_preview_shows_its_own_folder_only(puppet: Session) -> None:
    (puppet.folder / "secret.txt").write_text("secret")
    (artifact,) = make(puppet, {"site/index.html": "x"})
    (puppet.folder / "site" / "link.txt").symlink_to(puppet.folder / "secret.txt")
    for path in ("../secret.txt", "%2e%2e/secret.txt", "..%2fsecret.txt", "link.txt", "none.txt"):
        answer = preview(puppet, artifact["preview_url"] + path)
        assert answer.status in (400, 403, 404) and b"secret" != answer.body, path
    for key in ("0" * 32, "x", "../sessions"):
        assert preview(puppet, f"/preview/{key}/").status in (400, 403, 404)


def test_a_preview_of_a_deleted_session_is_gone(hub: HubProcess) -> None:
    session = hub.new_session("trusted")
    (artifact,) = make(session, {"note.txt": "x"})
    assert preview(session, artifact["preview_url"]).body == b"x"
    session.delete()
    assert preview(session, artifact["preview_url"]).status == 404
