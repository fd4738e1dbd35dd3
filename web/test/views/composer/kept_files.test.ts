import { beforeEach, describe, expect, it, vi } from 'vitest';
import { forgetPersonalData } from '../../../src/hub/personal_data';
import { keepFiles, keptFiles } from '../../../src/views/composer/kept_files';

beforeEach(forgetPersonalData);

describe('files of a draft', () => {
  it('are kept for it alone, until it has none', () => {
    keepFiles('a', [{ name: 'x.png', body: 'data:image/png;base64,AA==' }]);
    expect(keptFiles('a')).toEqual([{ name: 'x.png', body: 'data:image/png;base64,AA==' }]);
    expect(keptFiles('b')).toEqual([]);
    keepFiles('a', []);
    expect([keptFiles('a'), sessionStorage.length]).toEqual([[], 0]);
  });
  it('that are too much are kept by their names', () => {
    const large = 'x'.repeat(1_200_000);
    keepFiles('a', [{ name: 'one', body: large }, { name: 'two', body: large }, { name: 'three', body: 'y' }]);
    expect(keptFiles('a').map(({ name, body }) => [name, body?.length])).toEqual([['one', 1_200_000], ['two', undefined], ['three', 1]]);
    keepFiles('b', [{ name: 'four', body: large }]);
    expect(keptFiles('b')).toEqual([{ name: 'four' }]);
  });
  it('are not left for the next person', () => {
    keepFiles('a', [{ name: 'mine', body: 'mine' }]);
    forgetPersonalData();
    expect([keptFiles('a'), sessionStorage.length]).toEqual([[], 0]);
  });
  it('are none where the browser keeps nothing, or something else', () => {
    vi.stubGlobal('sessionStorage', null);
    keepFiles('a', [{ name: 'x' }]);
    expect(keptFiles('a')).toEqual([]);
    vi.unstubAllGlobals();
    sessionStorage.setItem('trunkline.draft.files.a', '[{"name":7},null,{"name":"x"}]');
    expect(keptFiles('a')).toEqual([{ name: 'x' }]);
  });
});
