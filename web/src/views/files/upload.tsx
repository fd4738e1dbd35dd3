// Files into the session's folder: by a button, or dropped on the list.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Uploads } from '../../generated/api';
import { asHubError, http, pathOf } from '../../hub/http';
import { t } from '../../i18n';
import { IconButton, toast } from '../../ui';

/** Sends files to a folder and shows what became of them. */
export async function sendFiles(sessionId: string, files: readonly File[]): Promise<boolean> {
  const form = new FormData();
  for (const file of files) form.append('file', file, file.name);
  try {
    const { files: kept } = (await http.upload(pathOf(['sessions', sessionId, 'files'], { path: '.' }), form)) as Uploads;
    toast(t('files.uploaded', { n: kept.length, name: kept[0]?.path ?? '' }), 'good');
    return true;
  } catch (error) {
    toast(asHubError(error).message, 'bad');
    return false;
  }
}

export function Upload({ sessionId, done }: { sessionId: string; done: () => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const chosen = async (): Promise<void> => {
    const files = [...(field.current?.files ?? [])];
    if (files.length === 0) return;
    setBusy(true);
    if (await sendFiles(sessionId, files)) done();
    setBusy(false);
    if (field.current !== null) field.current.value = '';
  };
  return (
    <>
      <input ref={field} type="file" multiple hidden aria-label={t('files.upload')} onChange={() => void chosen()} />
      <IconButton icon="upload" busy={busy} label={t('files.upload')} onClick={() => field.current?.click()} />
    </>
  );
}
