// What a tool gave back, in the form that suits it.

import type { JSX } from 'preact';
import type { CommandOutput, ToolStructuredOutput } from '../generated/agent-context';
import { t } from '../i18n';
import '../style/matter.css';
import { DiffView } from './diff/diff';
import { Json } from './json';
import { SearchHits } from './search_hits';
import { Terminal } from './terminal';
import { WebContent } from './web_content';

export function StructuredResult({ output, more = false }: { output: ToolStructuredOutput; more?: boolean }): JSX.Element {
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
    <div class="matter-printed">
      {stdout !== '' && <Terminal text={stdout} />}
      {stderr !== '' && <><p class="matter-note">{t('matter.stderr')}</p><Terminal text={stderr} /></>}
      {stdout === '' && stderr === '' && <p class="matter-note">{t('matter.noOutput')}</p>}
      {exitCode !== 0 && <p class="matter-note matter-bad">{t('matter.exitCode', { n: exitCode })}</p>}
    </div>
  );
}
