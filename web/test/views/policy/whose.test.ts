import { describe, expect, it } from 'vitest';
import { draftKey, policyPath } from '../../../src/views/policy/whose';

describe('whose policy', () => {
  it('is said where there are two', () => {
    expect(policyPath({ of: 'node', node: null })).toBe('/policy');
    expect(policyPath({ of: undefined })).toBe('/policy');
    expect(policyPath({ of: 'node', node: 'box' })).toBe('/policy?of=node');
    expect(policyPath({ of: 'cluster' })).toBe('/policy?of=cluster');
  });
  it('has changes of its own', () => expect(new Set([undefined, 'node', 'cluster'].map((of) => draftKey(of as 'node')))).toHaveProperty('size', 3));
});
