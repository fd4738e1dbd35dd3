// Which session content belongs to, in which of its folders it lies, and where one of its files is shown: links to files lead there.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { sessions } from '../hub/session_list';
import { route } from '../route';

/** The session by its id, for content that is shown outside of its session's own view. */
export const ContentSession = createContext<string | null>(null);

/** The folder of the session's that content lies in: what a file of it calls `pic.png` lies beside that file. */
export const ContentFolder = createContext('');

/** The session that content belongs to; null where it is not known. */
export function useSessionId(): string | null {
  const given = useContext(ContentSession);
  const at = route.value;
  return given ?? (at.view === 'session' ? at.id : null);
}

/** The folder that the session works in; empty where it is not known. */
export function useFolder(): string {
  const sessionId = useSessionId();
  return sessions.value.find((session) => session.id === sessionId)?.cwd ?? '';
}

/** A path as people read it: from the session's folder on, if it lies there. */
export function pathIn(folder: string, path: string): string {
  return folder !== '' && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** The folder that a file lies in; empty for the session's own. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The address of a file in the files tab, at a line where one is given. */
export function fileHref(sessionId: string, path: string, line?: number | null): string {
  const query = new URLSearchParams({ path, ...(line ? { line: String(line) } : {}) });
  return `#/s/${encodeURIComponent(sessionId)}/files?${query}`;
}

/** The address of a file's bytes. */
export function contentHref(sessionId: string, path: string): string {
  return `/sessions/${encodeURIComponent(sessionId)}/files/content?${new URLSearchParams({ path })}`;
}
