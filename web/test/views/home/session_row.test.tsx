import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pending, SessionView } from '../../../src/generated/api';
import { SessionRow } from '../../../src/views/home/session_row';

const VIEW = {
  id: 's', status: 'waiting_for_approval', agent: 'demo', cwd: '/home/me/atlas', title: 'Fix the login', queue: [], lastText: '', pendingApprovals: [], pendingQuestions: [],
  changes: { files: 0, linesAdded: 0, linesRemoved: 0 }, updatedAt: '2026-01-01T00:00:00.000Z',
} as unknown as SessionView;
const run = (command: string): Pending => ({ sessionId: 's', approval: { description: `Run: ${command}`, title: '', toolName: 'bash' } }) as unknown as Pending;
const question = { sessionId: 's', question: { question: 'Which one?' } } as unknown as Pending;

let place: HTMLElement;

beforeEach(() => {
  place = document.body.appendChild(document.createElement('div'));
});

afterEach(() => {
  render(null, place);
  place.remove();
});

function badge(...asks: Pending[]): string | null | undefined {
  void act(() => render(<SessionRow view={VIEW} asks={asks} onRename={() => undefined} onDelete={() => undefined} />, place));
  expect(place.querySelector('.home-row-line')?.textContent).toBe('Run: make');
  return place.querySelector('.home-row-head .ui-badge')?.textContent;
}

describe('a session that waits', () => {
  it('says for what, and for how much where it is more than the line tells', () => {
    expect(badge(run('make'))).toBe('Approval');
    expect(badge(run('make'), run('make test'))).toBe('2 approvals');
    expect(badge(run('make'), run('make test'), question)).toBe('2 approvals, 1 question');
  });
});
