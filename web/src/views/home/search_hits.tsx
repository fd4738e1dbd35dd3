/** What a search found in titles and contents: each session once, with its passages; each of these leads to its event. */
import type { JSX } from 'preact';
import type { SearchHit } from '../../generated/api';
import { agentName } from '../../hub/agents';
import { t, type Key } from '../../i18n';
import { sessionHref } from '../../route';
import { AgentSign, Button, Spinner, Time } from '../../ui';
import { projectOf } from './groups';
import { isSearchable, search, searchAgain } from './search';

export function HomeSearchHits(): JSX.Element {
  const { query, busy, page, error } = search.value;
  const hits = page?.hits ?? [];
  if (!isSearchable(query)) return <p class="home-hint" role="status">{t('home.nothingToSearch', { query: query.trim() })}</p>;
  return (
    <section class="home-group" aria-labelledby="home-hits">
      <header class="home-group-head">
        <h2 id="home-hits" aria-live="polite">{page && page.query === query.trim() ? t('home.results', { n: hits.length }) : t(error ? 'home.notSearched' : 'home.searching')}</h2>
        {busy && <Spinner size={16} />}
      </header>
      {error && <p class="home-warning" role="alert">{t('home.searchFailed', { why: error.message })} <Button kind="quiet" icon="refresh" onClick={searchAgain}>{t('common.retry')}</Button></p>}
      {!busy && !error && page && !hits.length && <p class="home-hint">{t('home.noResults', { query: query.trim() })}</p>}
      {page && !page.complete && <p class="home-hint">{t('home.readingOn')}</p>}
      {hits.length > 0 && <ul class="home-list">{bySession(hits).map((found) => <SessionHits key={found[0].sessionId} hits={found} />)}</ul>}
    </section>
  );
}

type Found = [SearchHit, ...SearchHit[]];

/** In the order of each session's first. */
function bySession(hits: readonly SearchHit[]): Found[] {
  const found = new Map<string, Found>();
  for (const hit of hits) {
    const same = found.get(hit.sessionId);
    if (same === undefined) found.set(hit.sessionId, [hit]);
    else same.push(hit);
  }
  return [...found.values()];
}

function SessionHits({ hits }: { hits: Found }): JSX.Element {
  const [first, ...others] = hits;
  return (
    <li class="home-row home-row-hit">
      <AgentSign name={first.agent} size={36} />
      <div class="home-row-head"><a class="home-row-title" dir="auto" href={hrefOf(first)}>{first.title || t('home.untitled')}</a></div>
      <p class="home-row-place" title={first.cwd}>
        <span class="home-row-project">{projectOf(first.cwd)}</span>
        <span class="home-row-agent">{agentName(first.agent)}</span>
      </p>
      <div class="home-row-line home-row-passages">
        <p class="home-row-snippet" dir="auto"><Passage hit={first} /></p>
        {others.map((hit) => <a key={`${hit.seq} ${hit.kind}`} class="home-row-snippet home-row-passage" dir="auto" href={hrefOf(hit)}><Passage hit={hit} /></a>)}
      </div>
      <ul class="home-row-figures"><li class="home-row-when"><Time at={first.at} /></li></ul>
    </li>
  );
}

function Passage({ hit }: { hit: SearchHit }): JSX.Element {
  return (
    <>
      <span class="home-hit-kind" dir="ltr">{t(`home.kind_${hit.kind}` as Key)}</span>
      {hit.snippet.map((part, at) => (part.match ? <mark key={at}>{part.text}</mark> : part.text))}
    </>
  );
}

function hrefOf(hit: SearchHit): string {
  return hit.seq ? sessionHref(hit.sessionId, hit.seq) : sessionHref(hit.sessionId);
}
