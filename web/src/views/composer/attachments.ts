/**
 * Files that go with a message: pictures inside it, everything else uploaded into the session's folder and named by its path.
 *
 * Rule 1: what an agent cannot take as a picture it gets as a file.
 * Rule 2: what is attached stays in its session while one looks elsewhere, and over a reload; what cannot be kept says that it has to
 * be attached again.
 */
import { signal, type ReadonlySignal } from '@preact/signals';
import type { Uploads } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { onForgetPersonalData } from '../../hub/personal_data';
import { t } from '../../i18n';
import { toast } from '../../ui';
import { draftOf, keepDraft } from './drafts';
import { keepFiles, keptFiles, type KeptFile } from './kept_files';
import { fileOf, isPicture, readPicture, roomFor, type Picture } from './pictures';

/** Where uploads go, inside the session's folder. */
const FOLDER = 'uploads';

export interface Attached {
  key: number;
  name: string;
  /** `lost`: there is only its name left. */
  state: 'reading' | 'ready' | 'lost';
  picture?: Picture;
}

/** What goes with one message. */
interface Taken {
  keys: number[];
  pictures: Picture[];
}

export class Attachments {
  private readonly listed = signal<Attached[]>([]);
  private readonly taking = signal(false);
  private readonly files = new Map<number, File>();
  private keys = 0;
  private onPath: ((path: string) => void) | null = null;

  constructor(private readonly sessionId: string) {
    this.listed.value = keptFiles(sessionId).map((kept) => this.restored(kept));
  }

  get all(): ReadonlySignal<Attached[]> {
    return this.listed;
  }

  /** Whether there is something to send. */
  get any(): boolean {
    return this.listed.value.some((each) => each.state !== 'lost');
  }

  /** Somebody writes here: the path of an uploaded file goes to them, and while nobody does, to the draft. */
  onUploaded(onPath: (path: string) => void): () => void {
    this.onPath = onPath;
    return () => void (this.onPath = null);
  }

  /** Nothing can be sent now: a file is read, or a message is made ready, whoever began it. */
  get busy(): boolean {
    return this.taking.value || this.listed.value.some((each) => each.state === 'reading');
  }

  /** Take files in. `pictures`: whether the agent takes pictures. */
  async add(files: readonly File[], pictures: boolean): Promise<void> {
    if (!pictures && files.some(isPicture)) toast(t('composer.noPictures'));
    await Promise.all(files.map((file) => (pictures && isPicture(file) ? this.addPicture(file) : this.upload(file))));
  }

  remove(key: number): void {
    this.files.delete(key);
    this.list(this.listed.value.filter((each) => each.key !== key));
  }

  forget(): void {
    this.files.clear();
    this.list([]);
  }

  /** The pictures of the message, made to fit together; null where they do not. */
  async take(): Promise<Taken | null> {
    this.taking.value = true;
    try {
      return await this.madeReady();
    } finally {
      this.taking.value = false;
    }
  }

  /** These went with a message; what was added since stays. */
  sent({ keys }: Taken): void {
    keys.forEach((key) => this.remove(key));
  }

  private async madeReady(): Promise<Taken | null> {
    const keys = this.listed.peek().map((each) => each.key);
    const files = keys.flatMap((key) => this.files.get(key) ?? []);
    const pictures = await Promise.all(files.map((file) => readPicture(file, roomFor(files.length)).catch(() => null)));
    if (pictures.some((picture) => picture === null)) return null;
    return { keys, pictures: pictures as Picture[] };
  }

  private async addPicture(file: File): Promise<void> {
    const name = file.name || t('composer.picture');
    this.list(this.listed.value.filter((each) => each.state !== 'lost' || each.name !== name));
    const key = this.begin(name);
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
      done.files.forEach((uploaded) => this.addPath(uploaded.path));
    } catch (error) {
      toast(t('composer.uploadFailed', { name: file.name, why: asHubError(error).message }), 'bad');
    }
    this.remove(key);
  }

  private addPath(path: string): void {
    if (this.onPath !== null) return this.onPath(path);
    const draft = draftOf(this.sessionId);
    keepDraft(this.sessionId, withPath(draft, draft.length, path).text);
  }

  private begin(name: string): number {
    const key = (this.keys += 1);
    this.list([...this.listed.value, { key, name, state: 'reading' }]);
    return key;
  }

  private restored({ name, body }: KeptFile): Attached {
    const key = (this.keys += 1);
    if (body === undefined) return { key, name, state: 'lost' };
    const picture = { name, url: body };
    this.files.set(key, fileOf(picture));
    return { key, name, state: 'ready', picture };
  }

  private change(key: number, to: Partial<Attached>): void {
    this.list(this.listed.value.map((each) => (each.key === key ? { ...each, ...to } : each)));
  }

  private list(all: Attached[]): void {
    this.listed.value = all;
    keepFiles(this.sessionId, all.map(({ name, picture }) => (picture ? { name, body: picture.url } : { name })));
  }
}

const known = new Map<string, Attachments>();
onForgetPersonalData(() => {
  known.forEach((each) => each.forget());
  known.clear();
});

/** What is attached in a session, for as long as the page lives. */
export function attachmentsOf(sessionId: string): Attachments {
  const found = known.get(sessionId) ?? new Attachments(sessionId);
  known.set(sessionId, found);
  return found;
}

/** The text with the path of a file put in, and where the caret is then. */
export function withPath(text: string, at: number, path: string): { text: string; caret: number } {
  const before = text.slice(0, at);
  const word = `${before && !/\s$/.test(before) ? ' ' : ''}@${path} `;
  return { text: before + word + text.slice(at), caret: at + word.length };
}

/** The files in what was pasted or dropped. */
export function filesIn(transfer: DataTransfer | null): File[] {
  return transfer ? [...transfer.files] : [];
}
