// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { editFields, editedInput, inputFromJson } from '../../../../src/views/approvals/card/edit';

const INPUT = { description: 'Runs', timeout: 30, command: 'npm test', background: false, env: { A: '1' } };

describe('an input as a form', () => {
  it('has what one wants to change first', () => {
    expect(editFields(INPUT).map((field) => [field.name, field.kind])).toEqual([
      ['command', 'lines'], ['description', 'line'], ['timeout', 'number'], ['background', 'boolean'], ['env', 'json']]);
  });
  it('knows a field by its name, however it is spelled', () => {
    expect(editFields({ a: '', new_string: 'x', filePath: '/a' }).map((field) => field.name)).toEqual(['filePath', 'new_string', 'a']);
  });
});

describe('an input that was changed', () => {
  const change = (name: string, text: string) => editedInput(INPUT, editFields(INPUT).map((field) => (field.name === name ? { ...field, text } : field)));
  it('is the same where nothing was', () => expect(editedInput(INPUT, editFields(INPUT))).toEqual({ ok: true, input: INPUT }));
  it('keeps types', () => {
    expect(change('timeout', '5')).toEqual({ ok: true, input: { ...INPUT, timeout: 5 } });
    expect(change('background', 'true')).toEqual({ ok: true, input: { ...INPUT, background: true } });
    expect(change('env', '{"B":2}')).toEqual({ ok: true, input: { ...INPUT, env: { B: 2 } } });
    expect(change('command', '5')).toEqual({ ok: true, input: { ...INPUT, command: '5' } });
  });
  it('says at which field it cannot be read', () => {
    expect(change('timeout', 'soon')).toEqual({ ok: false, problems: { timeout: 'notNumber' } });
    expect(change('timeout', '')).toEqual({ ok: false, problems: { timeout: 'notNumber' } });
    expect(change('env', '{')).toEqual({ ok: false, problems: { env: 'notJson' } });
  });
});

describe('an input from JSON', () => {
  it('is an object or an error', () => {
    expect(inputFromJson('{"a":1}')).toEqual({ ok: true, input: { a: 1 } });
    expect(inputFromJson('[1]')).toEqual({ ok: false, problems: { '': 'notObject' } });
    expect(inputFromJson('{')).toEqual({ ok: false, problems: { '': 'notJson' } });
  });
});
