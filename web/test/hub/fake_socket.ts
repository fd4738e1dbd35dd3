/** A WebSocket that the test speaks through: what the page sent is in `sent`, frames of the hub come by `receive`. */
import type { ClientFrame, HubFrame } from '../../src/generated/frames';

export class FakeSocket {
  static readonly OPEN = 1;
  readyState = 0;
  sent: ClientFrame[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as ClientFrame);
  }

  close(): void {
    this.closed = true;
    this.readyState = 3;
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  receive(frame: HubFrame): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  welcome(scope: 'admin' | 'view' = 'admin'): void {
    this.open();
    this.receive({ type: 'welcome', version: '1.0.0', hub: { name: 'trunkline', version: '0.1.0' }, scope, tokenId: 't1', name: 'me', pos: 5, pending: [] });
  }

  /** The hub or the network ends it. */
  drop(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }

  ofType<T extends ClientFrame['type']>(type: T): Extract<ClientFrame, { type: T }>[] {
    return this.sent.filter((frame): frame is Extract<ClientFrame, { type: T }> => frame.type === type);
  }
}

/** A Storage in memory, perhaps one that is full. */
export class FakeStorage {
  readonly kept = new Map<string, string>();
  full = false;
  most = Infinity;

  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (this.full || value.length > this.most) throw new Error('QuotaExceededError');
    this.kept.set(key, value);
  }

  removeItem(key: string): void {
    this.kept.delete(key);
  }
}
