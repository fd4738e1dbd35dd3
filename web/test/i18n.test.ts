import { afterEach, describe, expect, it } from 'vitest';
import { speak, t } from '../src/i18n';
import { en } from '../src/i18n/en';

afterEach(() => speak('en', en));

describe('words', () => {
  it('have their parameters filled in, as text', () => {
    expect(t('home.noResults', { query: '<b>{x}</b>' })).toBe('Nothing found for “<b>{x}</b>”.');
  });

  it('know one from many', () => {
    expect([t('home.files', { n: 1 }), t('home.files', { n: 0 }), t('home.files', { n: 2 })]).toEqual(['1 file', '0 files', '2 files']);
  });

  it('fall back to English where a language says nothing', () => {
    speak('de', { home: { title: 'Sitzungen' } });
    expect([t('home.title'), t('home.idle')]).toEqual(['Sitzungen', 'Idle']);
    expect(document.documentElement.lang).toBe('de');
  });

  it('need no glossary', () => {
    const inside = /\b(?:artifacts?|caps?|hubs?|polic(?:y|ies))\b(?!\.toml)|\bturns?\b(?! (?:on|off))/i;
    const said = Object.values(en).flatMap((part) => Object.values(part as Record<string, string | Record<string, string>>)).flatMap((words) => (typeof words === 'string' ? [words] : Object.values(words)));
    expect(said.length).toBeGreaterThan(500);
    expect(said.filter((words) => inside.test(words))).toEqual([]);
  });
});
