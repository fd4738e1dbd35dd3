import { beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetPersonalData } from '../../../src/hub/personal_data';
import { filters, listState, keepListState } from '../../../src/views/home/list_state';
import { search, searchFor } from '../../../src/views/home/search';

const stored = (): string => sessionStorage.getItem('trunkline.place.home') ?? '';

beforeEach(forgetPersonalData);

describe('the place in the list', () => {
  it('is kept for a reload, with what the list is narrowed to', () => {
    filters.agent.value = 'fast';
    searchFor('herons');
    keepListState({ top: 1132 });
    dispatchEvent(new Event('pagehide'));
    expect(JSON.parse(stored())).toMatchObject({ top: 1132, agent: 'fast', query: 'herons' });
  });
  it('is not left for the next person', () => {
    vi.useFakeTimers();
    filters.cwd.value = '/home/me/secret';
    searchFor('secret');
    keepListState({ top: 7 });
    forgetPersonalData();
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    expect([listState().top, filters.cwd.value, search.value.query, stored().includes('secret')]).toEqual([0, '', '', false]);
  });
});
