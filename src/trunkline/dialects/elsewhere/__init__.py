"""What programs that people run elsewhere tell, whoever made them: what the dialects of all vendors share.

    hooks.py        what they report by hooks, and take for an answer      lines.py         what they tell by a live line
    check_hooks.py  hooks that deny, and never allow                       foreign.py       hooks of others, beside ours
    plugins.py      a plugin of ours in one of them                        transcripts.py   the sessions that they store
"""
