"""What the page costs, measured in a real browser: from the agent's write to pixels, opening a long session, script per chunk.

Clocks: the agent's chunks say when they were written, by the clock that all processes of the machine share; the browser's own
clock is held against it before each run. What is measured begins before the journal's commit, so the true figure is smaller.
Pixels: the first moment after the frame in which the text stood in the document.
Stalls: tasks of more than 50 ms, as the browser itself counts them; while one runs, the page answers nobody.
"""

from __future__ import annotations

import re
import statistics
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks.agent import THE_END as THE_VERY_END
from benchmarks.machine import HubProcess
from benchmarks.scenarios import TEXT, Figure, Scale
from benchmarks.wire import Api
from scripts.browser import FLAGS, recorded
from scripts.traffic import Traffic

PIXELS_MS = 50.0
OPENS = 7
"""How often it is opened at least: what the hub still does after 60,000 events makes one take three times as long as another."""
OPEN_MS = 1000.0
BUNDLE_KB = 80.0
EVENTS = 50_000
REPLY = 4_000_000
PIECE = 512
STALL_MS = 200.0
THE_END = "That was the whole story."

WATCH = """
() => {
  const seen = window.seen = [];
  const main = document.querySelector('main');
  let waits = false;
  const look = () => {
    const ticks = main.textContent.match(/t\\d{10,}t/g);
    const count = ticks ? ticks.length : 0;
    waits = false;
    if (!seen.length || seen[seen.length - 1][0] < count) {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { seen.push([count, performance.now()]); };
      channel.port2.postMessage(0);
    }
  };
  new MutationObserver(() => { if (!waits) { waits = true; requestAnimationFrame(look); } })
    .observe(main, {childList: true, characterData: true, subtree: true});
}
"""

OPEN = """
([path, text]) => new Promise((resolve) => {
  const begin = performance.now();
  const look = () => {
    if (!document.querySelector('main')?.textContent.includes(text)) { requestAnimationFrame(look); return; }
    const channel = new MessageChannel();
    channel.port1.onmessage = () => resolve(performance.now() - begin);
    channel.port2.postMessage(0);
  };
  location.hash = path;
  requestAnimationFrame(look);
})
"""

STALLS = """
() => {
  window.stalls = [0];
  new PerformanceObserver((list) => { for (const each of list.getEntries()) window.stalls.push(each.duration); })
    .observe({ entryTypes: ['longtask'] });
}
"""

AT_THE_END = """
(end) => {
  const said = [...document.querySelectorAll('[role=feed] .content-markdown')].at(-1)?.lastElementChild;
  return said?.textContent === end && said.getBoundingClientRect().top < innerHeight;
}
"""

SCROLL = """
() => new Promise((resolve) => {
  const main = document.querySelector('main');
  const lists = [main, ...main.querySelectorAll('*')]
    .filter((part) => part.clientHeight > 300 && part.scrollHeight > 4 * part.clientHeight);
  const list = lists.sort((a, b) => b.scrollHeight - a.scrollHeight)[0] ?? document.scrollingElement;
  const times = [];
  let last = performance.now(), left = 120;
  const step = (now) => {
    times.push(now - last);
    last = now;
    list.scrollTop -= 120;
    if (left-- > 0) requestAnimationFrame(step); else resolve(times.slice(1));
  };
  requestAnimationFrame(step);
})
"""


def the_page(scale: Scale) -> list[Figure]:
    """(k) commit to pixels; (l) opening and scrolling a long session; (m) script per chunk; (n) what is loaded first."""
    with HubProcess() as hub, _browser_page() as (page, tools):
        api = _logged_in(page, hub)
        return [*_to_pixels(page, api, scale), *_long_session(page, api, scale), *_per_chunk(page, tools, api, scale),
                *_first_load(page, hub)]


def a_long_reply(scale: Scale) -> list[Figure]:
    """(z) a long reply, streamed and reloaded. Not among the others: an older page takes minutes for it."""
    with HubProcess() as hub, _browser_page() as (page, _):
        return _long_reply(page, _logged_in(page, hub), scale)


def _logged_in(page: Page, hub: HubProcess) -> Api:
    api = Api(hub)
    page.goto(f"http://{hub.host}:{hub.port}" + api.call("POST", "/auth/codes", {})["path"])
    page.get_by_role("main").wait_for()
    return api


@contextmanager
def _browser_page() -> Iterator[tuple[Page, CDPSession]]:
    found = recorded()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found.path, args=list(FLAGS), env=dict(found.environment()))
        context = browser.new_context(viewport={"width": 1440, "height": 900}, service_workers="block")
        page = context.new_page()
        tools = context.new_cdp_session(page)
        tools.send("Performance.enable", {"timeDomain": "timeTicks"})
        yield page, tools
        browser.close()


def _to_pixels(page: Page, api: Api, scale: Scale) -> list[Figure]:
    chunks, latencies = scale.of(100), []
    for _ in range(scale.rounds):
        session = api.new_session()
        _open(page, session)
        offset = _clock_offset_ms(page)
        page.evaluate(WATCH)
        api.send(session, f"ticks {chunks} 20")
        _until(page, "count => window.seen.some(([seen]) => seen >= count)", chunks)
        written = _ticks(page)
        for count, shown in _steps(page.evaluate("window.seen")):
            latencies += [shown + offset - written[index] for index in count]
    p50 = statistics.median(latencies)
    return [
        Figure("k  agent's write to pixels, p50", f"{p50:.1f} ms", f"<= {PIXELS_MS:.0f} ms", p50 <= PIXELS_MS),
        Figure("k  agent's write to pixels, p99", f"{sorted(latencies)[int(len(latencies) * 0.99)]:.1f} ms", "reported", None),
    ]


def _long_session(page: Page, api: Api, scale: Scale) -> list[Figure]:
    session = api.new_session()
    events = 0
    while events < scale.of(EVENTS):
        api.send(session, f"story {scale.of(2_000)}")
        events = api.wait_idle(session)["lastSeq"]
    api.send(session, f"echo {THE_END}")
    events = api.wait_idle(session)["lastSeq"]
    opened, cold = [], []
    for _ in range(max(scale.rounds, OPENS)):
        page.evaluate("location.hash = '#/new'")
        _until(page, "text => !document.querySelector('main')?.textContent.includes(text)", THE_END)
        opened.append(float(page.evaluate(OPEN, [f"#/s/{session}", THE_END])))
        begin = time.monotonic()
        page.reload()
        _until(page, "text => document.querySelector('main')?.textContent.includes(text)", THE_END)
        cold.append(1000 * (time.monotonic() - begin))
    frames = sorted(page.evaluate(SCROLL))
    slow = frames[int(len(frames) * 0.95)]
    p50 = statistics.median(opened)
    return [
        Figure(f"l  opening {round(events, -3):,} events, p50", f"{p50:.0f} ms", f"< {OPEN_MS:.0f} ms", p50 < OPEN_MS),
        Figure("l  the same with a reload of the page, p50", f"{statistics.median(cold):.0f} ms", f"< {OPEN_MS:.0f} ms",
               statistics.median(cold) < OPEN_MS),
        Figure("l  frame while scrolling, p50 / p95", f"{statistics.median(frames):.1f} / {slow:.1f} ms", "reported", None),
    ]


def _per_chunk(page: Page, tools: CDPSession, api: Api, scale: Scale) -> list[Figure]:
    count, rate = scale.of(1_000), 200
    session = api.new_session()
    _open(page, session)
    before = _busy_ms(tools)
    api.send(session, f"pace {count} {TEXT} {rate}")
    api.wait_idle(session)
    _until(page, "size => document.querySelector('main').textContent.includes('x'.repeat(size))", count * TEXT)
    after = _busy_ms(tools)
    script, task = ((after[name] - before[name]) / count for name in ("ScriptDuration", "TaskDuration"))
    return [
        Figure(f"m  script per chunk, {rate} a second", f"{script:.2f} ms", "<= 2 ms", script <= 2.0),
        Figure("m  the same with layout and paint", f"{task:.2f} ms", "reported", None),
    ]


def _first_load(page: Page, hub: HubProcess) -> list[Figure]:
    page.goto("about:blank")
    asked: list[str] = []
    traffic = Traffic(page.context)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"http://{hub.host}:{hub.port}/#/")
    page.get_by_role("main").wait_for()
    traffic.rest(page)
    files = sorted({url.partition("#")[0] for url in asked if re.search(r"/assets/|:\d+/(#|$)", url)})
    sizes = [len(_gzipped(url)) / 1000 for url in files]
    return [Figure(f"n  first load, {len(files)} files, gzip", f"{sum(sizes):.1f} KB", f"<= {BUNDLE_KB:.0f} KB",
                   sum(sizes) <= BUNDLE_KB)]


def _long_reply(page: Page, api: Api, scale: Scale) -> list[Figure]:
    session = api.new_session()
    _open(page, session)
    page.evaluate(STALLS)
    begin = time.monotonic()
    api.send(session, f"essay {scale.of(REPLY)} {PIECE}")
    api.wait_idle(session)
    _until(page, AT_THE_END, THE_VERY_END, 120)
    streamed_s = time.monotonic() - begin
    longest_ms = float(page.evaluate("Math.max(...window.stalls)"))
    begin = time.monotonic()
    page.reload()
    _until(page, "() => document.querySelector('[role=feed] .content-markdown') !== null", None)
    again_ms = 1000 * (time.monotonic() - begin)
    return [
        Figure(f"z  longest task, a reply of {scale.of(REPLY) / 1e6:.1f} MB", f"{longest_ms:.0f} ms", f"<= {STALL_MS:.0f} ms",
               longest_ms <= STALL_MS),
        Figure("z  until its end is shown", f"{streamed_s:.1f} s", "reported", None),
        Figure("z  until it is shown after a reload", f"{again_ms:.0f} ms", f"< {OPEN_MS:.0f} ms", again_ms < OPEN_MS),
    ]


def _gzipped(url: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept-Encoding": "gzip"}), timeout=20) as answer:
        body: bytes = answer.read()
        return body


def _open(page: Page, session: str) -> None:
    page.evaluate("path => { location.hash = path }", f"#/s/{session}")
    page.get_by_role("feed").wait_for()


def _until(page: Page, what: str, arg: object, within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not page.evaluate(what, arg):
        if time.monotonic() > deadline:
            raise RuntimeError(f"the page never came to: {what}")
        time.sleep(0.005)


def _clock_offset_ms(page: Page) -> float:
    """What to add to the page's clock to get the machine's, from the quickest of some tries."""
    tries = []
    for _ in range(20):
        before = time.monotonic_ns()
        there = float(page.evaluate("performance.now()"))
        after = time.monotonic_ns()
        tries.append((after - before, (before + after) / 2e6 - there))
    return min(tries)[1]


def _ticks(page: Page) -> list[float]:
    text = str(page.evaluate("document.querySelector('main').textContent"))
    return [int(tick) / 1e6 for tick in re.findall(r"t(\d{10,})t", text)]


def _steps(seen: list[list[float]]) -> Iterator[tuple[range, float]]:
    """For each frame with news: which chunks it brought, and when."""
    known = 0
    for count, at in seen:
        yield range(known, int(count)), at
        known = max(known, int(count))


def _busy_ms(tools: CDPSession) -> dict[str, float]:
    metrics = tools.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: 1000 * float(metric["value"]) for metric in metrics}
