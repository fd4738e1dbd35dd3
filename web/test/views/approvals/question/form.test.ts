// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { answerOf, contentOf, fieldsOf, initialValues, problemsOf } from '../../../../src/views/approvals/question/form';

const DEMO = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 1, maxLength: 5 },
    colour: { type: 'string', title: 'A colour', oneOf: [{ const: 'red', title: 'Red' }, { const: 'blue', title: 'Blue' }], default: 'blue' },
    steps: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    sure: { type: 'boolean', default: true },
  },
  required: ['name'],
};

const CHOICES = {
  type: 'object',
  properties: {
    answer: { type: 'array', title: 'Which', items: { anyOf: [{ const: 'A', title: 'A', description: 'first' }, { const: 'B', title: 'B' }] } },
    answer_other: { type: 'string', title: 'Other' },
  },
};

describe('fields of a schema', () => {
  it('have their kinds, titles and defaults', () => {
    const fields = fieldsOf(DEMO);
    expect(fields.map((field) => [field.name, field.kind, field.title, field.required])).toEqual([
      ['name', 'text', 'Your name', true], ['colour', 'choice', 'A colour', false],
      ['steps', 'integer', 'steps', false], ['sure', 'boolean', 'sure', false]]);
    expect(initialValues(fields)).toEqual({ name: '', colour: [1], steps: '3', sure: true });
  });
  it('take the field for other words to the choices it is beside', () => {
    const fields = fieldsOf(CHOICES);
    expect(fields).toHaveLength(1);
    expect(fields[0]).toMatchObject({ kind: 'choices', other: 'answer_other', choices: [{ value: 'A', description: 'first' }, { value: 'B' }] });
  });
  it('are one free text where there is no schema', () => {
    expect(fieldsOf(undefined)).toMatchObject([{ name: '', kind: 'text', required: true }]);
    expect(fieldsOf({ properties: 'nonsense' })).toHaveLength(1);
  });
  it('know the formats of texts', () => {
    const of = (format: string) => fieldsOf({ properties: { x: { type: 'string', format } } })[0]!.kind;
    expect(['email', 'uri', 'date', 'date-time', 'new'].map(of)).toEqual(['email', 'url', 'date', 'datetime', 'text']);
  });
});

describe('what is wrong with a form', () => {
  const fields = fieldsOf(DEMO);
  const problems = (change: object) => problemsOf(fields, { ...initialValues(fields), name: 'Ann', ...change });
  it('is nothing where it is filled in', () => expect(problems({})).toEqual({}));
  it.each([
    [{ name: ' ' }, 'name', { is: 'missing' }], [{ name: 'Annabel' }, 'name', { is: 'long', limit: 5 }],
    [{ steps: '0' }, 'steps', { is: 'least', limit: 1 }], [{ steps: '10' }, 'steps', { is: 'most', limit: 9 }],
    [{ steps: '2.5' }, 'steps', { is: 'notWhole' }], [{ steps: 'two' }, 'steps', { is: 'notNumber' }],
  ])('%o stands at its field', (change, field, problem) => expect(problems(change)).toEqual({ [field]: problem }));
  it('takes other words in place of a choice that is required', () => {
    const wanted = fieldsOf({ ...CHOICES, required: ['answer'] });
    expect(problemsOf(wanted, { answer: [], answer_other: '' })).toEqual({ answer: { is: 'missing' } });
    expect(problemsOf(wanted, { answer: [], answer_other: 'neither' })).toEqual({});
  });
  it('is not held up by a pattern that is none', () => {
    const field = fieldsOf({ properties: { x: { type: 'string', pattern: '(' } } });
    expect(problemsOf(field, { x: 'anything' })).toEqual({});
  });
});

describe('the content of a form', () => {
  it('has the types of its fields, and not what was left empty', () => {
    const fields = fieldsOf(DEMO);
    expect(contentOf(fields, { name: 'Ann', colour: [0], steps: '7', sure: false })).toEqual({ name: 'Ann', colour: 'red', steps: 7, sure: false });
    expect(contentOf(fields, { name: 'Ann', colour: [], steps: '', sure: true })).toEqual({ name: 'Ann', sure: true });
  });
  it('has the choices and the other words', () => {
    expect(contentOf(fieldsOf(CHOICES), { answer: [0, 1], answer_other: ' and C ' })).toEqual({ answer: ['A', 'B'], answer_other: 'and C' });
  });
  it('keeps a value of zero or false that was chosen', () => {
    const fields = fieldsOf({ properties: { x: { enum: [0, 1] }, y: { enum: [false, true] } } });
    expect(contentOf(fields, { x: [0], y: [0] })).toEqual({ x: 0, y: false });
  });
  it('goes to the hub as JSON, a free text as it is', () => {
    expect(answerOf(fieldsOf(undefined), { '': 'yes, do' })).toBe('yes, do');
    expect(answerOf(fieldsOf(CHOICES), { answer: [1], answer_other: '' })).toBe('{"answer":["B"]}');
  });
});
