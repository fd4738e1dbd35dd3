/** The bar at the top: where one can go, what waits, and whether the hub is there. */
import type { JSX } from 'preact';
import { forgetBasePath } from '../hub/base_path';
import { asHubError, http } from '../hub/http';
import { connection } from '../hub/connection';
import { pending } from '../hub/session_list';
import { t } from '../i18n';
import { route, type Route, write } from '../route';
import { setTheme, theme, type Theme } from '../theme';
import { Badge, Icon, Menu, Spinner, toast, type IconName, type MenuItem } from '../ui';
import { OutboxButton } from './outbox_button';

export function TopBar(): JSX.Element {
  const locked = connection.state.value === 'locked';
  return (
    <header class="shell-bar">
      <a class="shell-brand" href={write({ view: 'home' })} aria-label={`${t('common.appName')}: ${t('common.home')}`} aria-current={here('home')}>
        <Mark />
        <span class="shell-brand-text">{t('common.appName')}</span>
      </a>
      <span class="shell-room" />
      {!locked && <OutboxButton />}
      <ConnectionState />
      {!locked && <Navigation />}
      <Menu label={t('common.menu')} icon="menu" items={menuItems(locked)} />
    </header>
  );
}

/** One line that many come together in. */
function Mark(): JSX.Element {
  return (
    <svg class="shell-mark" width="22" height="22" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.25" stroke-linecap="round" aria-hidden="true">
      <path d="M12 3v18M12 14c-5 0-7-2-7-6.5M12 14c5 0 7-2 7-6.5" />
      <path d="M5 5h.01M19 5h.01" stroke-width="3.5" />
    </svg>
  );
}

function Navigation(): JSX.Element {
  return (
    <nav class="shell-nav" aria-label={t('common.appName')}>
      <NavLink to={{ view: 'new' }} icon="plus" text={t('common.newSession')} />
      <NavLink to={{ view: 'approvals' }} icon="shield" text={t('common.approvals')} count={pending.value.length} />
    </nav>
  );
}

function NavLink({ to, icon, text, count = 0 }: { to: Route; icon: IconName; text: string; count?: number }): JSX.Element {
  const label = count ? `${text}: ${t('common.waitingCount', { n: count })}` : text;
  return (
    <a class="shell-link" href={write(to)} aria-current={here(to.view)} aria-label={label} title={text}>
      <Icon name={icon} />
      <span class="shell-link-text">{text}</span>
      {count > 0 && <span aria-hidden="true"><Badge tone="warn">{count}</Badge></span>}
    </a>
  );
}

function here(view: Route['view']): 'page' | undefined {
  return route.value.view === view ? 'page' : undefined;
}

function ConnectionState(): JSX.Element {
  const state = connection.state.value;
  return (
    <span class={`shell-state shell-state-${state}`} role="status" aria-live="polite">
      {state === 'online' && <span class="shell-dot" aria-hidden="true" />}
      {state === 'connecting' && <Spinner size={14} />}
      {state === 'offline' && <Icon name="wifi-off" size={16} />}
      {state === 'locked' && <Icon name="lock" size={16} />}
      <span class="shell-state-text">{t(`common.${state}`)}</span>
    </span>
  );
}

const THEMES: readonly [Theme, 'common.themeSystem' | 'common.themeLight' | 'common.themeDark'][] = [
  ['system', 'common.themeSystem'],
  ['light', 'common.themeLight'],
  ['dark', 'common.themeDark'],
];

function menuItems(locked: boolean): MenuItem[] {
  const places: MenuItem[] = locked ? [] : [
    { label: t('common.policy'), icon: 'sliders', href: write({ view: 'policy' }) },
    { label: t('common.devices'), icon: 'phone', href: write({ view: 'devices' }) },
  ];
  const themes = THEMES.map(([value, key], at) => ({ label: t(key), checked: theme.value === value, apart: at === 0 && !locked, onSelect: () => setTheme(value) }));
  const leave: MenuItem[] = locked ? [] : [{ label: t('common.logOut'), icon: 'lock', apart: true, onSelect: () => void logOut() }];
  return [...places, ...themes, ...leave];
}

/** Out is out: nothing is said to have happened that has not. */
export async function logOut(): Promise<void> {
  try {
    await http.post('/auth/logout');
  } catch (error) {
    // Without the hub's word the cookie still counts: whoever opens the page next would be let in.
    if (asHubError(error).status !== 401) return toast(t('common.logOutFailed'), 'bad');
  }
  forgetBasePath();
  connection.lock();
}
