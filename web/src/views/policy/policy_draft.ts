/**
 * Changes of the policy that are not saved yet: they are there again after a look elsewhere, and after a reload.
 *
 * Rule: they know of which version of the file they are changes, so that what others changed meanwhile is not overwritten unseen.
 */
import { draftOf, keepDraft } from '../composer/drafts';

const KEY = 'policy';

export interface PolicyDraft {
  text: string;
  /** The version of the file that was changed. */
  base: string;
}

export function keptPolicy(): PolicyDraft | null {
  try {
    const found = JSON.parse(draftOf(KEY)) as Partial<PolicyDraft> | null;
    return typeof found?.text === 'string' && typeof found.base === 'string' ? { text: found.text, base: found.base } : null;
  } catch {
    return null;
  }
}

export function keepPolicy(draft: PolicyDraft | null): void {
  keepDraft(KEY, draft === null ? '' : JSON.stringify(draft));
}
