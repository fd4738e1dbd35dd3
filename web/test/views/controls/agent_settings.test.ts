// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { modelName, settingsOf } from '../../../src/views/controls/agent_settings';

const MODES = { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'plan', name: 'Plan', description: 'Only reads' }] };
const MODEL = { type: 'select' as const, id: 'model', name: 'Model', category: 'model', currentValue: 'one',
  options: [{ name: 'Fast', group: 'fast', options: [{ name: 'One', value: 'one' }] }, { name: 'Two', value: 'two', description: 'slow' }] };
const MODE = { type: 'select' as const, id: 'm', name: 'Mode', category: 'mode', currentValue: 'x', options: [{ name: 'X', value: 'x' }] };
const PACE = { type: 'select' as const, id: 'pace', name: 'Pace', currentValue: 'n', options: [{ name: 'N', value: 'n' }] };
const WEB = { type: 'boolean' as const, id: 'web', name: 'Web', currentValue: true };

describe('what of an agent can be set', () => {
  it('has the mode, the model and the rest apart', () => {
    const settings = settingsOf(MODES, 'plan', [MODEL, PACE, WEB], 'Mode');
    expect(settings.mode).toMatchObject({ by: 'mode', current: 'plan', choices: [{ value: 'ask' }, { value: 'plan', description: 'Only reads' }] });
    expect(settings.model).toMatchObject({ by: 'config', id: 'model', current: 'one' });
    expect(settings.others.map((option) => option.id)).toEqual(['pace', 'web']);
  });
  it('has choices in their groups', () => {
    expect(settingsOf(null, null, [MODEL], 'Mode').model?.choices).toEqual([{ value: 'one', name: 'One', group: 'Fast' }, { value: 'two', name: 'Two', description: 'slow' }]);
  });
  it('has the mode once, however often the agent tells of it', () => {
    expect(settingsOf(MODES, null, [MODE], 'Mode')).toMatchObject({ mode: { by: 'mode', current: 'ask' }, others: [] });
    expect(settingsOf(null, null, [MODE], 'Mode')).toMatchObject({ mode: { by: 'config', id: 'm' }, others: [] });
  });
  it('says what the agent calls a model, and the id of one that it says nothing of', () => {
    expect([modelName([MODEL], 'one'), modelName([MODEL], 'gone'), modelName(null, 'one')]).toEqual(['One', 'gone', 'one']);
  });
  it('is nothing where an agent tells nothing', () => expect(settingsOf(null, null, null, 'Mode')).toEqual({ mode: null, model: null, others: [] }));
});
