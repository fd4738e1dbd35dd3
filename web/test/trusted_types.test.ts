import { describe, expect, it } from 'vitest';
import { trusted } from '../src/trusted_types';

describe('the address of a script', () => {
  it.each(['/assets/offload.worker-Ab3_xY-9.js', '/sw.js'])('passes where it is of the build: %s', (address) => {
    expect(new URL(trusted().createScriptURL(address)).pathname).toBe(address);
  });

  it.each(['/preview/00ff/app.js', '/assets/../preview/00ff/app.js', '/sw.js/../preview/00ff/x.js', '/sessions', 'https://evil.example/assets/x.js', '//evil.example/sw.js', 'data:text/javascript,1', '/sw.js2'])('is refused otherwise: %s', (address) => {
    expect(() => trusted().createScriptURL(address)).toThrow(TypeError);
  });
});
