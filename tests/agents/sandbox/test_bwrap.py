"""The command line of the sandbox: order, precedence, what is always there."""

from __future__ import annotations

from trunkline.agents.sandbox.bwrap import Access, BoundPlace, bwrap_words, in_order, seen_at


def words(*places: BoundPlace, network: bool = True) -> list[str]:
    return bwrap_words("/usr/bin/bwrap", places, ["agent", "--acp"], cwd="/work", network=network)


def test_places_are_laid_from_the_shallowest_to_the_deepest() -> None:
    line = " ".join(words(BoundPlace("/home/me/a/b", Access.ROOT), BoundPlace("/home/me", Access.EMPTY),
                          BoundPlace("/home/me/a", Access.READ)))
    assert line.index("--tmpfs /home/me") < line.index("--ro-bind /home/me/a ") < line.index("--bind /home/me/a/b /home/me/a/b")


def test_of_two_names_for_one_place_the_more_careful_one_counts_unless_it_is_the_sessions_own() -> None:
    same = [BoundPlace("/x", Access.WRITE), BoundPlace("/x", Access.EMPTY), BoundPlace("/x", Access.READ)]
    assert in_order(same) == [BoundPlace("/x", Access.EMPTY)]
    assert in_order([*same, BoundPlace("/x", Access.ROOT)]) == [BoundPlace("/x", Access.ROOT)]


def test_the_deepest_place_says_what_is_seen() -> None:
    laid = [BoundPlace("/home", Access.EMPTY), BoundPlace("/home/a", Access.READ), BoundPlace("/home/a/secret", Access.NONE)]
    seen = {path: seen_at(path, laid) for path in ("/usr/bin", "/home", "/home/ab", "/home/a/x", "/home/a/secret")}
    assert list(seen.values()) == [Access.READ, Access.EMPTY, Access.EMPTY, Access.READ, Access.NONE]


def test_the_system_is_read_only_and_processes_are_its_own() -> None:
    line = words()
    assert line[line.index("--ro-bind"):][:3] == ["--ro-bind", "/", "/"]
    assert {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"} <= set(line)
    assert line[-5:] == ["--chdir", "/work", "--", "agent", "--acp"]


def test_the_network_is_off_only_where_that_is_asked_for() -> None:
    assert "--unshare-net" not in words() and "--unshare-net" in words(network=False)


def test_a_hidden_file_cannot_be_opened_and_a_link_leads_where_it_led() -> None:
    line = " ".join(words(BoundPlace("/h/.netrc", Access.NONE), BoundPlace("/h/.tool", Access.LINK, "dotfiles/tool")))
    assert "--ro-bind /dev/null /h/.netrc" in line and "--symlink dotfiles/tool /h/.tool" in line
