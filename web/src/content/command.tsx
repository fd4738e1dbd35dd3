// A shell command, its parts coloured as the hub parsed them; plain where it did not.

import type { JSX } from 'preact';
import { t } from '../i18n';
import { type CommandPart, commandPieces } from '../text/code/shell';
import { Copy } from '../ui';
import '../style/matter.css';
import { Shown } from './visible_text';

export function Command({ command, parts = [], folder }: { command: string; parts?: readonly CommandPart[]; folder?: string | undefined }): JSX.Element {
  return (
    <div class="matter-command">
      {folder !== undefined && <p class="matter-command-folder" title={t('matter.runsIn')}><Shown text={folder} /></p>}
      <pre tabIndex={0}><code>{commandPieces(command, parts).map((piece, index) => <span key={index} class={piece.role === '' ? undefined : `matter-sh-${piece.role}`}><Shown text={piece.text} /></span>)}</code></pre>
      <Copy text={command} label={t('matter.copyCommand')} />
    </div>
  );
}
