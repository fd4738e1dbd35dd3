/** What a search found in titles and contents; each passage leads to its event. */
import type { JSX } from 'preact';
import type { SearchHit } from '../../generated/api';
import { agentName } from '../../hub/agents';
import { t, type Key } from '../../i18n';
import { sessionHref } from '../../route';
import { AgentSign, Button, Spinner, Time } from '../../ui';
import { projectOf } from './groups';
import { search, searchAgain } from './search';

export function HomeSearchHits(): JSX.Element {
  const { query, busy, page, error } = search.value;
  const hits = page?.hits ?? [];
  return (
    <section class="home-group" aria-labelledby="home-hits">
      <header class="home-group-head">
        <h2 id="home-hits" aria-live="polite">{page && page.query === query.trim() ? t('home.results', { n: hits.length }) : t(error ? 'home.notSearched' : 'home.searching')}</h2>
        {busy && <Spinner size={16} />}
      </header>
      {error && <p class="home-warning" role="alert">{t('home.searchFailed', { why: error.message })} <Button kind="quiet" icon="refresh" onClick={searchAgain}>{t('common.retry')}</Button></p>}
      {!busy && !error && page && !hits.length && <p class="home-hint">{t('home.noResults', { query: query.trim() })}</p>}
      {page && !page.complete && <p class="home-hint">{t('home.readingOn')}</p>}
      {hits.length > 0 && <ul class="home-list">{hits.map((hit) => <HitRow key={`${hit.sessionId} ${hit.seq} ${hit.kind}`} hit={hit} />)}</ul>}
    </section>
  );
}

function HitRow({ hit }: { hit: SearchHit }): JSX.Element {
  const href = hit.seq ? sessionHref(hit.sessionId, hit.seq) : sessionHref(hit.sessionId);
  return (
    <li class="home-row home-row-hit">
      <AgentSign name={hit.agent} size={36} />
      <div class="home-row-head"><a class="home-row-title" dir="auto" href={href}>{hit.title || t('home.untitled')}</a></div>
      <p class="home-row-place" title={hit.cwd}>
        <span class="home-row-project">{projectOf(hit.cwd)}</span>
        <span class="home-row-agent">{agentName(hit.agent)}</span>
      </p>
      <p class="home-row-line home-row-snippet" dir="auto">
        <span class="home-hit-kind" dir="ltr">{t(`home.kind_${hit.kind}` as Key)}</span>
        {hit.snippet.map((part, at) => (part.match ? <mark key={at}>{part.text}</mark> : part.text))}
      </p>
      <ul class="home-row-figures"><li class="home-row-when"><Time at={hit.at} /></li></ul>
    </li>
  );
}
