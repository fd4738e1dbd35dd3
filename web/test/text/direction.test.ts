// @vitest-environment node
import { expect, it } from 'vitest';
import { fieldDirection } from '../../src/text/direction';

it.each([
  ['', undefined],
  ['hello', undefined],
  ['12. hello مرحبا', undefined],
  ['مرحبا hello', 'rtl'],
  ['  "שלום"', 'rtl'],
  ['\u{1e900}', 'rtl'],
  [`${' '.repeat(600)}مرحبا`, undefined],
])('of %j is %j', (text, direction) => expect(fieldDirection(text)).toBe(direction));
