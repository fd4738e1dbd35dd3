"""What a conversation takes: tokens by message and turn, money, and room in the context."""

from __future__ import annotations

import json

from tests.dialects.claude import sample_frames as f
from tests.tooling.claude_runs import translator
from trunkline.dialects.notes import AgentNote, CostSpent
from trunkline.dialects.signals import TurnEnd


def test_tokens_are_told_by_message_and_the_rest_of_a_turn_with_its_end() -> None:
    since = {"claude-x": {"inputTokens": 30, "outputTokens": 9, "cacheReadInputTokens": 4, "thinkingTokens": 2}}
    told = f.hear(f.prompted(), f.init(), f.begin("m"), f.stop(input_tokens=10, output_tokens=5, cache_read_input_tokens=4),
                  f.result(model_usage_since_last_result=since))
    assert f.notes(told, "tokens") == [{"input": 10, "output": 5, "cacheRead": 4, "cacheWrite": 0, "messageId": "m"}]
    end = told[-1]
    assert isinstance(end, TurnEnd) and json.loads(end.usage or b"") == {
        "inputTokens": 30, "outputTokens": 9, "cachedReadTokens": 4, "cachedWriteTokens": 0, "thoughtTokens": 2}


def test_an_old_builds_turn_takes_what_its_models_count_grew_by() -> None:
    translate = f.prompted()

    def took(used: int, **usage: int) -> int:
        (end,) = (signal for signal in f.hear(translate, f.init(), f.result(
            modelUsage={"a": {"inputTokens": used}, "b": {"inputTokens": 1}}, usage=usage)) if isinstance(signal, TurnEnd))
        translate.prompted()
        taken: int = json.loads(end.usage or b"")["inputTokens"]
        return taken

    assert took(1000, input_tokens=5) == 5, "what was there before this process is none of this turn's"
    assert took(1030, input_tokens=5) == 30, "sub-agents are in the models' count only"


def test_a_turn_of_the_clis_own_tells_the_rest_of_its_tokens_too() -> None:
    since = {"claude-x": {"inputTokens": 30}}
    told = f.hear(translator(), f.init(), f.begin("m"), f.stop(input_tokens=10), f.result(model_usage_since_last_result=since))
    assert [note["input"] for note in f.notes(told, "tokens")] == [10, 20]


def test_money_and_room_are_told_together_and_by_model() -> None:
    models = {"claude-x": {"inputTokens": 10, "contextWindow": 200_000, "costUSD": 0.5}}
    told = f.hear(f.prompted(), f.init(), f.begin("m"), f.stop(input_tokens=10, output_tokens=5),
                  f.result(modelUsage=models, total_cost_usd=0.5))
    assert f.updates(told, "usage") == [
        {"sessionUpdate": "usage_update", "used": 15, "size": 200_000, "cost": {"amount": 0.5, "currency": "USD"}}]
    assert f.notes(told, "model_usage") == [models]


def test_money_is_told_where_no_room_is_known() -> None:
    told = f.hear(f.prompted(), f.init(), f.result(total_cost_usd=0.5))
    assert AgentNote(CostSpent(0.5, "USD", is_total=True)) in told
