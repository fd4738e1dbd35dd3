"""Step 3 of the data path: one live session, from its agent's pipe to entries that are stored.

Read it in the order in which a chunk travels:

    driver/      speaks the agent's language and yields signals (driver/base.py says what one is)
    intake/      takes those signals in the order in which they came
    interpret/   signals and acts in, numbered entries out; pure
    fold/        what is known of the session; changed by interpret
    recorder.py  hands entries to the journal, and what was committed to the readers

and then what happens around it:

    session.py   the facade: whatever others may do with a session, and how its parts are put together
    admission.py who may do it                           lifecycle.py how a session begins, rests and ends
    agent.py     what the driver calls back              settings.py  what people set in it
    turns/       prompts, turns, pauses, spending        approvals/   asks and questions, and who answers them
    policy/      the rules that answer for people        audit/       the sealed chain of approvals
    workspace/   the session's folder                    client/      what the hub does for the agent: files, terminals
    commands/    the nine commands of consumers          restore/     a session's state back from the journal
    services.py  what the hub gives to each session      deadlines.py, background.py  timers and tasks
    judges.py    what judges calls, loaded late
"""
