/**
 * The frame of the page: the bar at the top with the state of the connection, and the view that the address names.
 *
 * Rule 1: every view but the list of sessions is fetched when it is first shown.
 * Rule 2: without a token that counts there is only the login; while one is being got, there is nothing.
 * Rule 3: a view that fails takes nothing else with it.
 */
import type { JSX } from 'preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { connection } from './hub/connection';
import { t } from './i18n';
import { route, type Route } from './route';
import { TopBar } from './shell/top_bar';
import { Banner } from './shell/offline_banner';
import { Button, lazy, Toasts } from './ui';
import { pairingCode } from './views/devices/pairing_code';
import { HomeView } from './views/home/home';
import { entering } from './views/login/enter';

const ApprovalsQueue = lazy(() => import('./views/approvals/queue').then((part) => part.ApprovalsQueue));
const ClaimView = lazy(() => import('./views/devices/claim').then((part) => part.ClaimView));
const DevicesView = lazy(() => import('./views/devices/devices').then((part) => part.DevicesView));
const LoginView = lazy(() => import('./views/login/login').then((part) => part.LoginView));
const NewView = lazy(() => import('./views/new/new').then((part) => part.NewView));
const PolicyView = lazy(() => import('./views/policy/policy').then((part) => part.PolicyView));
const SessionView = lazy(() => import('./views/session/session').then((part) => part.SessionView));

export function App(): JSX.Element {
  const locked = connection.state.value === 'locked';
  const code = pairingCode.value;
  return (
    <div class="shell">
      <a class="shell-skip" href="#main" onClick={skip}>{t('common.skip')}</a>
      <TopBar />
      <Banner />
      <Main>{code !== null ? <ClaimView code={code} /> : entering.value ? null : locked ? <LoginView /> : <View at={route.value} />}</Main>
      <Toasts />
    </div>
  );
}

/** The fragment is the page's address: the link to the content must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Main({ children }: { children: JSX.Element | null }): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const place = placeOf(route.value);
  const first = useRef(true);
  useEffect(() => {
    // A view with a field to write into has taken it before us.
    if (!first.current && !main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return <main class="shell-main" id="main" tabIndex={-1} ref={main}><Boundary key={place}>{children}</Boundary></main>;
}

/** Views are kept while only their inside changes. */
function placeOf(at: Route): string {
  return at.view === 'session' ? `session ${at.id}` : at.view;
}

function Boundary({ children }: { children: JSX.Element | null }): JSX.Element | null {
  const [error, retry] = useErrorBoundary((failure) => console.error(failure));
  if (error === undefined) return children;
  return (
    <div class="ui-empty" role="alert">
      <p>{t('common.viewBroke')}</p>
      <code>{String((error as Error).message ?? error).slice(0, 300)}</code>
      <Button icon="refresh" onClick={retry}>{t('common.retry')}</Button>
    </div>
  );
}

function View({ at }: { at: Route }): JSX.Element {
  switch (at.view) {
    case 'session': return <SessionView key={at.id} id={at.id} tab={at.tab} seq={at.seq} />;
    case 'approvals': return <ApprovalsQueue />;
    case 'policy': return <PolicyView />;
    case 'devices': return <DevicesView />;
    case 'new': return <NewView cwd={at.cwd} />;
    case 'home': return <HomeView />;
  }
}
