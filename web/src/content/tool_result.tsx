// What a tool gave back, in the form that suits it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CommandOutput, ToolStructuredOutput } from '../generated/agent-context';
import { t } from '../i18n';
import { Button, Icon } from '../ui';
import '../style/content/index.css';
import { DiffView } from './diff/diff';
import { Json } from './json';
import { SearchHits } from './search_hits';
import { Terminal } from './terminal';
import { AgentLink } from './markdown/link';
import { VisibleText } from './visible_text';

export function ToolResult({ output, more = false }: { output: ToolStructuredOutput; more?: boolean }): JSX.Element {
  switch (output.type) {
    case 'file_diff': return <DiffView diff={output.diff} path={output.path} />;
    case 'search_results': return <SearchHits results={output.results} more={more} />;
    case 'command_output': return <Printed output={output} />;
    case 'web_content': return <WebContent url={output.url} title={output.title} summary={output.summary} />;
    default: return <Json value={output satisfies never} />;
  }
}

function Printed({ output }: { output: CommandOutput }): JSX.Element {
  const { stdout, stderr, exitCode } = output;
  return (
    <div class="content-printed">
      {stdout !== '' && <Terminal text={stdout} />}
      {stderr !== '' && <><p class="content-note">{t('content.stderr')}</p><Terminal text={stderr} /></>}
      {stdout === '' && stderr === '' && <p class="content-note">{t('content.noOutput')}</p>}
      {exitCode !== 0 && <p class="content-note content-bad">{t('content.exitCode', { n: exitCode })}</p>}
    </div>
  );
}

const FIRST_CHARACTERS = 1_200;

/** A page that an agent fetched: where from, what it is called, how it begins. Its text is shown as text. */
export function WebContent({ url, title, summary }: { url: string; title?: string | undefined; summary?: string | undefined }): JSX.Element {
  const [all, setAll] = useState(false);
  const text = summary ?? '';
  const cut = !all && text.length > FIRST_CHARACTERS;
  return (
    <div class="content-web">
      <p class="content-web-head"><Icon name="globe" size={16} /><AgentLink address={url} shown={title ?? url}><VisibleText text={title ?? url} /></AgentLink></p>
      {text !== '' && <p class="content-web-text"><VisibleText text={cut ? text.slice(0, FIRST_CHARACTERS) : text} />{cut && '…'}</p>}
      {cut && <Button kind="quiet" onClick={() => setAll(true)}>{t('content.showMore')}</Button>}
    </div>
  );
}
