/**
 * Files that go with a message: pictures inside it, everything else uploaded into the session's folder and named by its path.
 *
 * Rule: what an agent cannot take as a picture it gets as a file.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { Uploads } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { toast } from '../../ui';
import { isPicture, readPicture, roomFor, type Picture } from './pictures';

/** Where uploads go, inside the session's folder. */
const FOLDER = 'uploads';

export interface Attached {
  key: number;
  name: string;
  state: 'reading' | 'ready';
  picture?: Picture;
}

/** What goes with one message. */
export interface Taken {
  keys: number[];
  pictures: Picture[];
}

export class Attachments {
  private readonly listed = signal<Attached[]>([]);
  private readonly files = new Map<number, File>();
  private keys = 0;

  constructor(private readonly sessionId: string, private readonly onPath: (path: string) => void) {}

  get all(): ReadonlySignal<Attached[]> {
    return this.listed;
  }

  get busy(): boolean {
    return this.listed.value.some((each) => each.state === 'reading');
  }

  /** Take files in. `pictures`: whether the agent takes pictures. */
  async add(files: readonly File[], pictures: boolean): Promise<void> {
    if (!pictures && files.some(isPicture)) toast(t('composer.noPictures'));
    await Promise.all(files.map((file) => (pictures && isPicture(file) ? this.addPicture(file) : this.upload(file))));
  }

  remove(key: number): void {
    this.files.delete(key);
    this.listed.value = this.listed.value.filter((each) => each.key !== key);
  }

  /** The pictures of the message, made to fit together; null where they do not. */
  async take(): Promise<Taken | null> {
    const keys = this.listed.peek().map((each) => each.key);
    const files = keys.flatMap((key) => this.files.get(key) ?? []);
    const pictures = await Promise.all(files.map((file) => readPicture(file, roomFor(files.length)).catch(() => null)));
    if (pictures.some((picture) => picture === null)) return null;
    return { keys, pictures: pictures as Picture[] };
  }

  /** These went with a message; what was added since stays. */
  sent({ keys }: Taken): void {
    keys.forEach((key) => this.remove(key));
  }

  private async addPicture(file: File): Promise<void> {
    const key = this.begin(file.name || t('composer.picture'));
    this.files.set(key, file);
    const picture = await readPicture(file, roomFor(1)).catch(() => null);
    if (picture) return this.change(key, { state: 'ready', picture });
    this.remove(key);
    toast(t('composer.pictureFailed', { name: file.name }), 'bad');
  }

  private async upload(file: File): Promise<void> {
    const key = this.begin(file.name);
    const form = new FormData();
    form.append('file', file, file.name);
    try {
      const done = (await http.upload(pathOf(['sessions', this.sessionId, 'files'], { path: FOLDER }), form)) as Uploads;
      done.files.forEach((uploaded) => this.onPath(uploaded.path));
    } catch (error) {
      toast(t('composer.uploadFailed', { name: file.name, why: asHubError(error).message }), 'bad');
    }
    this.remove(key);
  }

  private begin(name: string): number {
    const key = (this.keys += 1);
    this.listed.value = [...this.listed.value, { key, name, state: 'reading' }];
    return key;
  }

  private change(key: number, to: Partial<Attached>): void {
    this.listed.value = this.listed.value.map((each) => (each.key === key ? { ...each, ...to } : each));
  }
}

/** The files in what was pasted or dropped. */
export function filesIn(transfer: DataTransfer | null): File[] {
  return transfer ? [...transfer.files] : [];
}
