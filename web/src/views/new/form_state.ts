/**
 * What was filled in for a new session that is not started yet.
 *
 * Rule 1: it is there for as long as the page lives: a look at something else takes nothing away. Words, the folder and files are
 * there over a reload, too; a file that is too large for that says that it has to be attached again.
 * Rule 2: it is of who filled it in: it goes when another person may come (hub/leave.ts), and once the session is started.
 */
import { effect, signal } from '@preact/signals';
import { onForgetPersonalData } from '../../hub/personal_data';
import { draftOf, keepDraft } from '../composer/drafts';
import { keepFiles, keptFiles, type KeptFile } from '../composer/kept_files';
import { nextId, type PromptFile } from './attachments';
import { lastNode } from './remembered';
import { Starting, type SandboxChoice } from './start';

const PROMPT = 'new';
const FOLDER = 'new.folder';

class NewForm {
  /** The node of a cluster to run on; empty: wherever there is room. */
  readonly node = signal(lastNode());
  readonly agent = signal('');
  readonly cwd = signal(draftOf(FOLDER));
  readonly sandbox = signal<SandboxChoice>('');
  readonly options = signal<Record<string, string>>({});
  readonly prompt = signal(draftOf(PROMPT));
  readonly files = signal<PromptFile[]>(keptFiles(PROMPT).flatMap(restored));
  /** Files of which only the name is left. */
  readonly lost = signal<string[]>(keptFiles(PROMPT).flatMap(({ name, body }) => (body === undefined ? [name] : [])));
  starting = new Starting();

  /** The folder that somebody wants, as opposed to the one that is proposed. */
  chooseFolder(path: string): void {
    this.cwd.value = path;
    keepDraft(FOLDER, path);
  }

  /** Whether somebody wants the folder, and it is not only proposed. */
  get isFolderChosen(): boolean {
    return draftOf(FOLDER) !== '';
  }

  clear(): void {
    this.node.value = lastNode();
    this.agent.value = '';
    this.chooseFolder('');
    this.sandbox.value = '';
    this.options.value = {};
    this.prompt.value = '';
    this.files.value = [];
    this.lost.value = [];
    this.starting = new Starting();
  }
}

export const form = new NewForm();

effect(() => keepDraft(PROMPT, form.prompt.value));
effect(() => keepFiles(PROMPT, [...form.lost.value.map((name) => ({ name })), ...form.files.value.map(({ name, ...more }) => ({ name, body: JSON.stringify(more) }))]));
onForgetPersonalData(() => form.clear());

function restored({ name, body }: KeptFile): PromptFile[] {
  return body === undefined ? [] : [{ ...(JSON.parse(body) as PromptFile), name, id: nextId() }];
}
