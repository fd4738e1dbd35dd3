// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { actStates, mayDo } from '../../../src/views/controls/availability';

const SESSION = { status: 'running', turn: {}, paused: null, watchOnly: false, line: false };

describe('what can be done with a session', () => {
  it('is to cancel and to pause while a turn runs', () => {
    const states = actStates(SESSION, true, 'control');
    expect(states.cancel).toEqual({ can: true });
    expect(states.pause).toEqual({ can: true });
    expect(states.resume).toEqual({ can: false, why: 'notPaused' });
  });
  it('is not to cancel where no turn runs', () => {
    expect(actStates({ ...SESSION, status: 'idle', turn: null }, true, 'control').cancel).toEqual({ can: false, why: 'noTurn' });
  });
  it('is nothing while its node is away', () => {
    const states = actStates({ ...SESSION, paused: {} }, true, 'admin', true);
    expect(new Set(Object.values(states).map((state) => (state.can ? 'can' : state.why)))).toEqual(new Set(['away']));
  });
  it('is to resume what is paused or over', () => {
    expect(actStates({ ...SESSION, paused: {} }, true, 'control').resume).toEqual({ can: true });
    expect(actStates({ ...SESSION, status: 'completed', turn: null }, true, 'control').resume).toEqual({ can: true });
    expect(actStates({ ...SESSION, paused: {} }, true, 'control').pause).toEqual({ can: false, why: 'paused' });
  });
  it('is nothing but to look for who may only approve, and in a session that is watched', () => {
    expect(actStates(SESSION, true, 'approve').cancel).toEqual({ can: false, why: 'noScope' });
    expect(actStates({ ...SESSION, watchOnly: true }, true, 'admin').prompt).toEqual({ can: false, why: 'watchOnly' });
  });
  it('is to prompt and to interrupt what runs elsewhere, where there is a line to it', () => {
    const states = actStates({ ...SESSION, watchOnly: true, line: true }, true, 'control');
    expect(states.prompt).toEqual({ can: true });
    expect(states.cancel).toEqual({ can: true });
    expect(states.pause).toEqual({ can: false, why: 'watchOnly' });
  });
  it('is to write a prompt also without a connection, and nothing that must be true at once', () => {
    const states = actStates(SESSION, false, 'control');
    expect(states.prompt).toEqual({ can: true });
    expect(states.cancel).toEqual({ can: false, why: 'offline' });
    expect(states.configure).toEqual({ can: false, why: 'offline' });
  });
});

describe('scopes', () => {
  it('include those before them', () => {
    expect(mayDo('admin', 'control')).toBe(true);
    expect(mayDo('approve', 'control')).toBe(false);
    expect(mayDo(null, 'view')).toBe(false);
  });
});
