/**
 * Pictures that go with a message, made small enough to travel.
 *
 * Rule 1: a message over the WebSocket has at most 1 MiB; its pictures share what is left beside the text.
 * Rule 2: a picture that fits stays as it is, byte for byte. One that does not is drawn smaller, then with less detail.
 */
import type { SendMessageCommand } from '../../generated/agent-context';
import { withBasePath } from '../../hub/base_path';

/** What agents take; anything else that a browser can draw becomes one of these. */
const AS_THEY_ARE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Characters of all pictures of a message together. */
export const ROOM = 880_000;

/** Longest edge and quality, tried in this order. Models look at about 1,500 pixels. */
const TRIES: [number, number][] = [[1568, 0.9], [1568, 0.75], [1200, 0.7], [900, 0.65], [640, 0.6]];

export interface Picture {
  name: string;
  /** `data:image/…;base64,…` */
  url: string;
}

export function isPicture(file: { type: string }): boolean {
  return file.type.startsWith('image/') && file.type !== 'image/svg+xml';
}

/** The room for each of so many pictures. */
export function roomFor(count: number): number {
  return Math.floor(ROOM / Math.max(1, count));
}

/** How large a picture is drawn so that its longest edge fits. */
export function fitted(width: number, height: number, longest: number): { width: number; height: number } {
  const scale = Math.min(1, longest / Math.max(width, height, 1));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** The picture as it is sent; null where the browser cannot draw it. */
export async function readPicture(file: File, room: number): Promise<Picture | null> {
  const asItIs = AS_THEY_ARE.has(file.type) && file.size * 1.37 + 64 <= room ? await dataUrl(file) : null;
  const url = asItIs ?? (await shrunk(file, room));
  return url === null ? null : { name: file.name || 'picture', url };
}

/** A picture that was read before, as the file that it was. */
export function fileOf({ name, url }: Picture): File {
  const [head = '', body = ''] = url.split(',', 2);
  const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
  return new File([bytes], name, { type: /^data:([^;]+)/.exec(head)?.[1] ?? '' });
}

/** A message with its pictures. */
export function messageOf(text: string, pictures: { url: string }[]): SendMessageCommand {
  const attachments = pictures.map(({ url }) => ({ type: 'image' as const, url }));
  return { command: 'send_message', message: text.trim(), ...(attachments.length ? { attachments } : {}) };
}

/** Pictures that were sent before, to be sent again; null where one of them cannot be had any more. */
export async function sentBefore(urls: readonly string[]): Promise<Picture[] | null> {
  const pictures = await Promise.all(urls.map((url) => readAgain(url, roomFor(urls.length)).catch(() => null)));
  return pictures.some((picture) => picture === null) ? null : (pictures as Picture[]);
}

async function readAgain(url: string, room: number): Promise<Picture | null> {
  if (url.startsWith('data:image/')) return { name: 'picture', url };
  if (!url.startsWith('/sessions/')) return null;
  const answer = await fetch(withBasePath(url), { credentials: 'same-origin' });
  return answer.ok ? readPicture(new File([await answer.blob()], 'picture', { type: answer.headers.get('Content-Type') ?? '' }), room) : null;
}

async function shrunk(file: Blob, room: number): Promise<string | null> {
  const drawn = await createImageBitmap(file).catch(() => null);
  if (!drawn) return null;
  try {
    for (const [longest, quality] of TRIES) {
      const url = drawnAs(drawn, longest, quality);
      if (url.length <= room) return url;
    }
    return null;
  } finally {
    drawn.close();
  }
}

function drawnAs(picture: ImageBitmap, longest: number, quality: number): string {
  const { width, height } = fitted(picture.width, picture.height, longest);
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  canvas.getContext('2d')?.drawImage(picture, 0, 0, width, height);
  const webp = canvas.toDataURL('image/webp', quality);
  return webp.startsWith('data:image/webp') ? webp : canvas.toDataURL('image/jpeg', quality);
}

function dataUrl(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error('the file could not be read'));
    reader.readAsDataURL(file);
  });
}
