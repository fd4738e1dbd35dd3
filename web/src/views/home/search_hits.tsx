/**
 * What a search found in titles and contents: each session once, with its passages; each of these leads to its event.
 *
 * Rule: a name is read once. What was found in a title is marked in it, and a session that is listed already has to have said more.
 */
import type { JSX } from 'preact';
import type { SearchHit } from '../../generated/api';
import { agentName } from '../../hub/agents';
import { t, type Key } from '../../i18n';
import { sessionHref } from '../../route';
import { AgentSign, Button, Spinner, Time } from '../../ui';
import { projectOf } from './groups';
import { isSearchable, search, searchAgain, searchFor } from './search';
import { RowNode } from './session_row';

/** `listed`: the sessions that stand above. */
export function HomeSearchHits({ listed }: { listed: ReadonlySet<string> }): JSX.Element {
  const { query, busy, page, error } = search.value;
  const missing = page?.missing ?? [];
  const found = bySession(page?.hits ?? []).filter((each) => each.passages.length > 0 || !listed.has(each.session.sessionId));
  const count = found.reduce((sum, each) => sum + Math.max(1, each.passages.length), 0);
  if (!isSearchable(query)) return <p class="home-hint" role="status">{t('home.nothingToSearch', { query: query.trim() })}</p>;
  return (
    <section class="home-group" aria-labelledby="home-hits">
      <header class="home-group-head">
        <h2 id="home-hits" aria-live="polite">{page && page.query === query.trim() ? t('home.results', { n: count }) : t(error ? 'home.notSearched' : 'home.searching')}</h2>
        {busy && <Spinner size={16} />}
      </header>
      {error && <p class="home-warning" role="alert">{t('home.searchFailed', { why: error.message })} <Button kind="quiet" icon="refresh" onClick={searchAgain}>{t('common.retry')}</Button></p>}
      {!busy && !error && page && !page.hits.length && <p class="home-hint">{t('home.noResults', { query: query.trim() })}</p>}
      {missing.length > 0 && <p class="home-warning" role="status">{t('cluster.missing', { nodes: missing.join(', ') })} <Button kind="quiet" icon="refresh" onClick={() => searchFor(query)}>{t('common.retry')}</Button></p>}
      {page && !page.complete && <p class="home-hint">{t('home.readingOn')}</p>}
      {found.length > 0 && <ul class="home-list">{found.map((each) => <SessionHits key={each.session.sessionId} found={each} />)}</ul>}
    </section>
  );
}

interface Found {
  /** Any of its hits: all of them say whose they are. */
  session: SearchHit;
  title?: SearchHit;
  passages: SearchHit[];
}

/** In the order of each session's first. */
export function bySession(hits: readonly SearchHit[]): Found[] {
  const found = new Map<string, Found>();
  for (const hit of hits) {
    const same = found.get(hit.sessionId) ?? { session: hit, passages: [] };
    found.set(hit.sessionId, same);
    if (hit.kind === 'title') same.title = hit;
    else same.passages.push(hit);
  }
  return [...found.values()];
}

function SessionHits({ found: { session, title, passages } }: { found: Found }): JSX.Element {
  const [first, ...others] = passages;
  return (
    <li class="home-row home-row-hit">
      <AgentSign name={session.agent} size={36} />
      <div class="home-row-head"><a class="home-row-title" dir="auto" href={hrefOf(first ?? session)}>{isWhole(title) ? <Marked hit={title} /> : session.title || t('home.untitled')}</a></div>
      <p class="home-row-place" title={session.cwd}>
        <span class="home-row-project">{projectOf(session.cwd)}</span>
        <span class="home-row-agent">{agentName(session.agent)}</span>
        <RowNode node={session.node} />
      </p>
      {first && (
        <div class="home-row-line home-row-passages">
          <p class="home-row-snippet" dir="auto"><Passage hit={first} /></p>
          {others.map((hit) => <a key={`${hit.seq} ${hit.kind}`} class="home-row-snippet home-row-passage" dir="auto" href={hrefOf(hit)}><Passage hit={hit} /></a>)}
        </div>
      )}
      <ul class="home-row-figures"><li class="home-row-when"><Time at={(first ?? session).at} /></li></ul>
    </li>
  );
}

/** Whether what was found is all of the title: of a long one it may be a part. */
function isWhole(hit: SearchHit | undefined): hit is SearchHit {
  return hit !== undefined && hit.snippet.map((part) => part.text).join('') === hit.title;
}

function Passage({ hit }: { hit: SearchHit }): JSX.Element {
  return (
    <>
      <span class="home-hit-kind" dir="ltr">{t(`home.kind_${hit.kind}` as Key)}</span>
      <Marked hit={hit} />
    </>
  );
}

function Marked({ hit }: { hit: SearchHit }): JSX.Element {
  return <>{hit.snippet.map((part, at) => (part.match ? <mark key={at}>{part.text}</mark> : part.text))}</>;
}

function hrefOf(hit: SearchHit): string {
  return hit.seq ? sessionHref(hit.sessionId, hit.seq) : sessionHref(hit.sessionId);
}
