// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { AgentView, SessionView } from '../../../src/generated/api';
import { contentOf, featuresOf, readPromptFile } from '../../../src/views/new/attachments';
import { choicesOf, hasRun } from '../../../src/views/new/options';
import { deviceName, kindOf } from '../../../src/views/login/enter';

describe('files of the first prompt', () => {
  const picture = (size: number): File => new File([new Uint8Array(size)], 'a.png', { type: 'image/png' });

  it('are read as pictures or as text', async () => {
    expect(await readPromptFile(new File([new Uint8Array([1, 2, 250])], 'a.png', { type: 'image/png' }))).toMatchObject({ kind: 'picture', body: 'AQL6', mimeType: 'image/png' });
    expect(await readPromptFile(new File(['grün'], 'notes', { type: '' }))).toMatchObject({ kind: 'text', body: 'grün', mimeType: 'text/plain' });
  });

  it('are refused where they are too large or neither', async () => {
    await expect(readPromptFile(picture((5 << 20) + 1))).rejects.toThrow('a.png is too large');
    await expect(readPromptFile(new File([new Uint8Array([0, 255, 1])], 'a.bin'))).rejects.toThrow('neither a picture nor text');
    await expect(readPromptFile(new File(['x\0y'], 'b.bin'))).rejects.toThrow('neither');
  });

  it('become what the agent takes: a resource, or text in a fence that they cannot break', async () => {
    const file = await readPromptFile(new File(['a ```` b'], 'n.md', { type: 'text/markdown' }));
    expect(contentOf('look', [file], { embeddedContext: true })).toMatchObject([{ type: 'text', text: 'look' }, { type: 'resource', resource: { text: 'a ```` b' } }]);
    expect(contentOf('  ', [file], null)).toEqual([{ type: 'text', text: 'n.md\n`````\na ```` b\n`````' }]);
    expect(contentOf('', [], null)).toEqual([]);
  });

  it('depend on what the agent said, where it has run', () => {
    expect(featuresOf({ capabilities: null } as AgentView)).toBeNull();
    expect(featuresOf({ capabilities: { promptCapabilities: { image: true } } } as AgentView)).toEqual({ image: true });
  });
});

describe('what an agent lets one choose', () => {
  const modes = { currentModeId: 'a', availableModes: [{ id: 'a', name: 'Ask' }, { id: 'p', name: 'Plan', description: 'only plans' }] };
  const model = {
    type: 'select' as const, id: 'model', name: 'Model', currentValue: 'x', category: 'model',
    options: [{ name: 'Fast', group: 'g', options: [{ name: 'X', value: 'x' }] }, { name: 'Y', value: 'y' }],
  };

  it('is what its newest session offered, groups flattened', () => {
    const views = [{ agent: 'other', modes }, { agent: 'demo', modes, configOptions: [model] }] as unknown as SessionView[];
    expect(choicesOf('demo', views)).toMatchObject([
      { id: 'mode', isMode: true, values: [{ value: 'a' }, { value: 'p', description: 'only plans' }] },
      { id: 'model', isMode: false, values: [{ value: 'x', name: 'X' }, { value: 'y' }] },
    ]);
    expect(choicesOf('nobody', views)).toEqual([]);
  });

  it('is known to be nothing once it has run here', () => {
    const [own, followed] = [{ agent: 'plain', agentSessionId: 'a', watchOnly: false }, { agent: 'other', agentSessionId: 'b', watchOnly: true }] as unknown as SessionView[];
    expect([hasRun('plain', [own!, followed!]), hasRun('other', [own!, followed!]), hasRun('nobody', [])]).toEqual([true, false, false]);
  });

  it('does not name the mode twice', () => {
    const views = [{ agent: 'demo', modes, configOptions: [{ ...model, id: 'm', category: 'mode' }] }] as unknown as SessionView[];
    expect(choicesOf('demo', views).map((choice) => choice.id)).toEqual(['m']);
  });
});

describe('logging in by hand', () => {
  it.each([
    ['ABCD-EFGH-JKMN-PQRS', 'pair'], ['abcdefghjkmnpqrs', 'pair'], ['abcd efgh jkmn pqrs', 'pair'], ['x'.repeat(32), 'code'],
    [`tl_${'a'.repeat(43)}`, 'token'], ['hunter2', 'token'], ['AbcdEfghJkmnPqrs', 'token'],
  ] as const)('%s is a %s', (typed, kind) => expect(kindOf(typed)).toBe(kind));

  it('names a device by its browser and system', () => {
    expect(deviceName('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604.1')).toBe('Safari · iPhone');
    expect(deviceName('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36')).toBe('Chrome · Linux');
    expect(deviceName('curl')).toBe('Browser');
  });
});
