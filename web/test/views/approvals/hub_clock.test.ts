import { expect, it } from 'vitest';
import { hubAhead, onEvent } from '../../../src/views/approvals/hub_clock';

const at = (seconds: number) => ({ timestamp: new Date(seconds * 1000).toISOString() });

it('takes the smallest difference for the true one, and none for small ones', () => {
  onEvent(at(1000), 1_090_000); // told 90 s late: a replay, or a clock that is wrong
  expect(hubAhead.value).toBe(-90_000);
  onEvent(at(1100), 1_100_400); // told at once: the clocks agree
  expect(hubAhead.value).toBe(0);
  onEvent(at(1200), 1_140_000); // the hub is a minute ahead
  expect(hubAhead.value).toBe(60_000);
  onEvent(at(1300), 1_400_000);
  expect(hubAhead.value).toBe(60_000);
});
