// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { SuggestionSource } from '../../../src/views/composer/suggestion_source';

describe('what a command takes', () => {
  it('is marked once, also where the agent has marked it', () => {
    const commands = [{ name: 'ask', description: 'Asks', hint: '[N]' }, { name: 'also', description: 'Asks as well', hint: 'words' }];
    const source = new SuggestionSource(() => '', () => commands);
    source.onTextChanged('/a', 2);
    expect(source.current.value?.choices.map((choice) => choice.description)).toEqual(['[N] Asks', '<words> Asks as well']);
  });
});
