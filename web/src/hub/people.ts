/**
 * Who did something, in words for people. What is kept stays as it is: a name with the id of the login that it was done with.
 *
 * Rule 1: nobody reads an id. Whoever came in by this browser is "you", by whichever of its logins; a phone has the name that it was
 * given; a browser that nobody gave a name is another browser. Who holds the hub's own token is you, too, at a terminal.
 * Rule 2: the logins of this browser are forgotten with all else that is a person's (personal_data.ts).
 */
import { signal } from '@preact/signals';
import { t } from '../i18n';
import { givenName, isTerminal } from './login_name';
import { onForgetPersonalData } from './personal_data';

const KEY = 'trunkline.logins';
const KEPT = 50;

const DECIDED = /\bdecided by (.{1,200}? \([0-9a-f]{12}\)|main$)/g;

const own = signal<readonly string[]>(kept());
onForgetPersonalData(() => (own.value = []));

/** The hub has told what it calls us now. */
export function setOwnName(name: string): void {
  if (own.peek().at(-1) === name) return;
  own.value = [...own.peek().filter((each) => each !== name), name].slice(-KEPT);
  try {
    localStorage.setItem(KEY, JSON.stringify(own.peek()));
  } catch {
    // A browser that keeps nothing knows this login only.
  }
}

/** What to call somebody, at the beginning of a sentence or alone. */
export function whoIs(by: string): string {
  if (own.value.includes(by)) return t('common.you');
  return isTerminal(by) ? t('common.terminal') : givenName(by) ?? t('common.anotherBrowser');
}

/** The same in the middle of a sentence. */
export function byWhom(by: string): string {
  if (own.value.includes(by)) return t('common.youWithin');
  return isTerminal(by) ? t('common.terminalWithin') : givenName(by) ?? t('common.anotherBrowserWithin');
}

/** A reason that the hub wrote, with those who decided it as people call them. */
export function withNames(reason: string): string {
  return reason.replace(DECIDED, (_, by: string) => t('common.decidedBy', { who: byWhom(by) }));
}

function kept(): string[] {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]') as unknown;
    return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
