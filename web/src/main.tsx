/**
 * Where the page begins. The order matters: the address first (it may carry a code that must not stay there), then who we are, then
 * the connection to the hub.
 */
import { lateSecret, secret } from './route';
import './style/index.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app';
import { onUnauthorized } from './hub/http';
import { connection, retryWhenPageWakes } from './hub/connection';
import { followCluster } from './hub/cluster';
import { followSessions } from './hub/session_list';
import { applyTheme } from './theme';
import { watchClock } from './views/approvals/hub_clock';
import { rememberDecisions } from './views/approvals/resolutions';
import { countInTitle } from './views/approvals/title_count';
import { startWorker } from './views/devices/worker';
import { enterWith } from './views/login/enter';

applyTheme();
followSessions();
followCluster();
rememberDecisions();
watchClock();
countInTitle();
onUnauthorized(() => connection.probe());
retryWhenPageWakes(connection);

const entered = enterWith(secret?.kind === 'code' ? secret : null); // A pairing code waits for its owner's word.
const root = document.getElementById('page');
if (root) render(<App />, root);

void entered.finally(() => connection.start());
startWorker();
effect(() => {
  const late = lateSecret.value;
  if (late?.kind === 'code') void enterWith(late).then((inside) => inside && connection.retryNow());
});
