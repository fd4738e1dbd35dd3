/**
 * What would happen if it were approved, every act of it: commands with their parts, changes as diffs, paths, or words.
 *
 * Rule 1: what is approved is what is there: where there is no room for all of it, it says how much more there is, and shows that on
 * request. Unseen characters are shown.
 * Rule 2: the input is always there to be opened, whatever the preview says of it.
 */
import type { JSX } from 'preact';
import type { ApprovalPreview } from '../../../generated/agent-context';
import type { ApprovalView, CommandPart } from '../../../generated/api';
import { actsOf, callsOf } from '../../../hub/approval_meta';
import { t } from '../../../i18n';
import { Copy, Icon, lazy } from '../../../ui';
import { Folded } from './folded';
import { segmentsOf, type Segment } from './command_parts';
import { MarkedText } from '../../../content/visible_text';

const DiffView = lazy(async () => (await import('./preview_content')).DiffView);
const Markdown = lazy(async () => (await import('./preview_content')).Markdown);

export function Preview({ approval }: { approval: ApprovalView }): JSX.Element {
  return (
    <>
      {approval.preview && callsOf(approval).length === 0 && <PreviewBody preview={approval.preview} parts={approval.parts} isWords={approval.inWords === true} />}
      {actsOf(approval).map((act, index) => <PreviewBody key={index} preview={act} parts={undefined} isWords={false} />)}
      <AgentReason input={approval.toolInput} />
      <WholeInput input={approval.toolInput} open={!approval.preview} />
    </>
  );
}

function PreviewBody({ preview, parts, isWords }: { preview: ApprovalPreview; parts: CommandPart[] | undefined; isWords: boolean }): JSX.Element {
  switch (preview.type) {
    case 'diff':
      return <div class="approvals-diff"><DiffView diff={preview.diff} path={preview.path} /></div>;
    case 'command':
      return <Command command={preview.command} folder={preview.workingDir} parts={parts} />;
    case 'description':
      // Only the agent's own words may be Markdown: it would show paths and commands as others than they are.
      return isWords ? <div class="approvals-words"><Markdown text={preview.text} live={false} /></div> : <div class="approvals-command"><Folded><MarkedText text={preview.text} /></Folded></div>;
  }
}

function Command({ command, folder, parts }: { command: string; folder: string; parts: CommandPart[] | undefined }): JSX.Element {
  return (
    <div class="approvals-command">
      <div class="approvals-command-line">
        <Folded>
          {segmentsOf(command, parts).map((segment, index) => (
            <span key={index} class={classOf(segment)}><MarkedText text={segment.text} /></span>
          ))}
        </Folded>
        <Copy text={command} />
      </div>
      <p class="approvals-folder"><Icon name="folder" size={14} /> <span>{t('approvals.inFolder')}</span> <code><MarkedText text={folder} /></code></p>
    </div>
  );
}

function WholeInput({ input, open }: { input: unknown; open: boolean }): JSX.Element | null {
  const text = JSON.stringify(input, null, 2);
  if (text === undefined || text === '{}') return null;
  return (
    <details class="approvals-input" open={open}>
      <summary>{t('approvals.input')}</summary>
      <Folded><MarkedText text={text} /></Folded>
    </details>
  );
}

function classOf({ kind, risk }: Segment): string | undefined {
  if (!kind) return undefined;
  const danger = risk === 'high' || risk === 'critical' ? ` approvals-part-${risk}` : '';
  return `approvals-part-${kind}${danger}`;
}

/** What the agent says that it is for. Its words: they stand below what is really asked for. */
function AgentReason({ input }: { input: Record<string, unknown> }): JSX.Element | null {
  const words = input['description'];
  if (typeof words !== 'string' || !words.trim()) return null;
  return <p class="approvals-said">{t('approvals.agentSays')} <q><MarkedText text={words} /></q></p>;
}
