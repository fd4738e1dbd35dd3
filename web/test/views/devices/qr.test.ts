// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { drawQr, pathOf } from '../../../src/views/devices/qr';

describe('a QR code as a drawing', () => {
  it('joins neighbours of a row', () => {
    expect(pathOf([[true, true, false, true], [false, false, false, false]])).toBe('M4 4h2v1h-2zM7 4h1v1h-1z');
  });
  it('has the three corners of every code, and a margin', () => {
    const drawn = drawQr('http://192.168.1.5:7420/#/pair/ABCD-EFGH-JKMN-PQRS');
    expect(drawn.size).toBeGreaterThanOrEqual(21 + 8);
    expect(drawn.path.startsWith('M4 4h7v1h-7z')).toBe(true);
  });
  it('is another for another text', () => expect(drawQr('a').path).not.toBe(drawQr('b').path));
});
