/**
 * Files that go with the first prompt: pictures as they are, text files as their text.
 *
 * Rule: what cannot be sent is refused here, with the reason, and not after the session was started.
 */
import type { AgentView, ContentBlock } from '../../generated/api';
import { t } from '../../i18n';

const PICTURE_MOST = 5 << 20;
const TEXT_MOST = 256 << 10;
const PICTURES = /^image\/(png|jpeg|gif|webp)$/;

export interface PromptFile {
  id: number;
  name: string;
  kind: 'picture' | 'text';
  mimeType: string;
  /** Base64 of a picture, or the text. */
  body: string;
}

/** A file that cannot be sent, and why. */
export class Refused extends Error {}

let last = 0;

export function nextId(): number {
  return (last += 1);
}

export async function readPromptFile(file: File): Promise<PromptFile> {
  const name = file.name || t('new.attached');
  if (PICTURES.test(file.type)) {
    if (file.size > PICTURE_MOST) throw new Refused(t('new.tooLarge', { name, most: '5 MB' }));
    return { id: nextId(), name, kind: 'picture', mimeType: file.type, body: base64(await file.arrayBuffer()) };
  }
  if (file.size > TEXT_MOST) throw new Refused(t('new.tooLarge', { name, most: '256 KB' }));
  const text = decoded(await file.arrayBuffer());
  if (text === null) throw new Refused(t('new.notReadable', { name }));
  return { id: nextId(), name, kind: 'text', mimeType: file.type || 'text/plain', body: text };
}

function base64(body: ArrayBuffer): string {
  const bytes = new Uint8Array(body);
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

function decoded(body: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

interface PromptFeatures {
  image?: boolean;
  embeddedContext?: boolean;
}

/** What the agent takes, where it has ever run here. */
export function featuresOf(agent: AgentView | undefined): PromptFeatures | null {
  const capabilities = agent?.capabilities as { promptCapabilities?: PromptFeatures } | null | undefined;
  return capabilities ? capabilities.promptCapabilities ?? {} : null;
}

/** The prompt as the agent gets it. */
export function contentOf(text: string, files: readonly PromptFile[], features: PromptFeatures | null): ContentBlock[] {
  const words: ContentBlock[] = text.trim() ? [{ type: 'text', text }] : [];
  return [...words, ...files.map((file) => blockOf(file, features?.embeddedContext === true))];
}

function blockOf(file: PromptFile, embeds: boolean): ContentBlock {
  if (file.kind === 'picture') return { type: 'image', data: file.body, mimeType: file.mimeType };
  if (embeds) return { type: 'resource', resource: { uri: `attachment:///${encodeURIComponent(file.name)}`, mimeType: file.mimeType, text: file.body } };
  const fence = '`'.repeat(Math.max(3, longestFence(file.body) + 1));
  return { type: 'text', text: `${file.name}\n${fence}\n${file.body}\n${fence}` };
}

function longestFence(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
}
