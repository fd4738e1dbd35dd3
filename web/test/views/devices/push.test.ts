// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../src/views/devices/push';

describe('a key of Web Push', () => {
  it('is read from base64url, with and without padding', () => {
    expect([...bytesOf('-_8')]).toEqual([0xfb, 0xff]);
    expect([...bytesOf('AQID')]).toEqual([1, 2, 3]);
  });
});
