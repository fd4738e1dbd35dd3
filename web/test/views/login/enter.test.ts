import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { http, HubError } from '../../../src/hub/http';
import { enterByHand, enterTrouble, kindOf } from '../../../src/views/login/enter';

const PAIR = 'ABCD-2345-EFGH-6789';
const CODE = 'abcDEF_-0123456789abcDEF_-012345';

describe('what somebody typed', () => {
  let requests: string[];
  beforeEach(() => {
    requests = [];
  });
  afterEach(() => vi.restoreAllMocks());

  function answering(...answers: (HubError | null)[]): void {
    vi.spyOn(http, 'enter').mockImplementation((path, body) => {
      requests.push(`${path} ${Object.keys(body as object)[0]}`);
      const answer = answers.shift() ?? null;
      return answer ? Promise.reject(answer) : Promise.resolve(undefined as never);
    });
  }

  it('is known by its looks', () => {
    expect([PAIR, 'abcd2345efgh6789', 'ABCD-2345-EFGH-678I', 'ABCD-2345-EFGH-678L', CODE, 'tl_something', ''].map(kindOf)).toEqual(['pair', 'pair', 'token', 'token', 'code', 'token', 'token']);
  });

  it('is tried once where it is a pairing code, and why it was refused is kept', async () => {
    answering(new HubError('too_many_requests', 'wait', 429), null);
    expect(await enterByHand(PAIR)).toBe(false);
    expect(requests).toEqual(['/pair/claim code']);
    expect(enterTrouble.value?.status).toBe(429);
  });

  it('is tried as a token where it is no one-time code, and not where it was refused for another reason', async () => {
    answering(new HubError('unauthorized', '', 401), null);
    expect(await enterByHand(CODE)).toBe(true);
    expect(requests).toEqual(['/auth/login code', '/auth/login token']);
    vi.restoreAllMocks();
    requests = [];
    answering(new HubError('too_many_requests', 'wait', 429), null);
    expect(await enterByHand(CODE)).toBe(false);
    expect(requests).toEqual(['/auth/login code']);
    expect(enterTrouble.value?.status).toBe(429);
  });
});
