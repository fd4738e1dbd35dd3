import { describe, expect, it, vi } from 'vitest';
import { fitted, isPicture, messageOf, readPicture, roomFor, ROOM, sentBefore } from '../../../src/views/composer/pictures';

describe('pictures of a message', () => {
  it('share the room of one message', () => expect([roomFor(1), roomFor(4), roomFor(0)]).toEqual([ROOM, ROOM / 4, ROOM]));
  it('are fitted by their longest edge, never made larger', () => {
    expect(fitted(4000, 2000, 1568)).toEqual({ width: 1568, height: 784 });
    expect(fitted(100, 4000, 1000)).toEqual({ width: 25, height: 1000 });
    expect(fitted(30, 20, 1568)).toEqual({ width: 30, height: 20 });
    expect(fitted(10000, 1, 1000)).toEqual({ width: 1000, height: 1 });
  });
  it('are told from other files; drawings that may carry scripts are files', () => {
    expect([{ type: 'image/png' }, { type: 'image/svg+xml' }, { type: 'text/plain' }].map(isPicture)).toEqual([true, false, false]);
  });
  it('are had again from the hub, or as they are, and not from anywhere else', async () => {
    const blob = async () => new Blob([new Uint8Array([137, 80, 78, 71])], { type: 'image/png' });
    const fetched = vi.fn(async (url: string) =>
      Object.assign(new Response(null, { status: url.endsWith('/7') ? 200 : 404, headers: { 'Content-Type': 'image/png' } }), { blob }));
    vi.stubGlobal('fetch', fetched);
    expect((await sentBefore(['data:image/png;base64,AA==', '/sessions/s/images/7']))?.map(({ url }) => url))
      .toEqual(['data:image/png;base64,AA==', 'data:image/png;base64,iVBORw==']);
    expect([await sentBefore(['/sessions/s/images/8']), await sentBefore(['https://elsewhere.example/7'])]).toEqual([null, null]);
    expect(fetched).toHaveBeenCalledTimes(2);
    expect(messageOf(' look ', [{ url: 'data:x' }])).toEqual({ command: 'send_message', message: 'look', attachments: [{ type: 'image', url: 'data:x' }] });
    vi.unstubAllGlobals();
  });
  it('stay as they are where they fit', async () => {
    const picture = await readPicture(new File([new Uint8Array([137, 80, 78, 71])], 'dot.png', { type: 'image/png' }), 1000);
    expect(picture).toEqual({ name: 'dot.png', url: 'data:image/png;base64,iVBORw==' });
  });
});
