/** What a session may spend, and how long its approvals wait. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NewLimits, SessionState } from '../../generated/api';
import { http, pathOf } from '../../hub/http';
import { t, type Key } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { Button, Sheet } from '../../ui';
import { useControl } from './run_control';
import { CAPS, capsOf, capTexts, shareSpent, waitChoices, type Cap, type CapProblem } from './limits';
import type { ActState } from './availability';

const NAMES: Record<Cap, Key> = { tokens: 'controls.capTokens', cost: 'controls.capCost', minutes: 'controls.capMinutes', turns: 'controls.capTurns' };
const PROBLEMS: Record<CapProblem, Key> = { notNumber: 'controls.notNumber', notWhole: 'controls.notWhole', notAbove: 'controls.notAbove' };

export function LimitsSheet({ session, state, onClose }: { session: OpenSession; state: ActState; onClose: () => void }): JSX.Element {
  const view = session.state.value;
  const [texts, setTexts] = useState(() => capTexts(view.caps));
  const [waitS, setWaitS] = useState(view.waits.approvalS ?? null);
  const [onTimeout, setOnTimeout] = useState(view.waits.onTimeout ?? 'reject');
  const { busy, act } = useControl();
  const { caps, problems } = capsOf(texts);
  const waitsChanged = waitS !== (view.waits.approvalS ?? null) || onTimeout !== (view.waits.onTimeout ?? 'reject');
  const save = async (): Promise<void> => {
    const body: NewLimits = { caps, ...(waitsChanged ? { waits: { approvalS: waitS, onTimeout } } : {}) };
    if (await act(() => http.post(pathOf(['sessions', session.sessionId, 'limits']), body))) onClose();
  };
  return (
    <Sheet title={t('controls.limitsTitle')} onClose={onClose}
      actions={<Button kind="primary" busy={busy} disabled={!state.can || Object.keys(problems).length > 0} onClick={() => void save()}>{t('common.save')}</Button>}>
      <div class="controls-limits">
        <p class="approvals-note">{t('controls.limitsText')}</p>
        {CAPS.map((cap) => (
          <label key={cap} class="controls-cap">
            <span>{nameOf(cap, view)}</span>
            <input type="text" aria-label={nameOf(cap, view)} inputMode="decimal" autocomplete="off" value={texts[cap]} placeholder={t('controls.noLimit')} aria-invalid={problems[cap] !== undefined}
              onInput={(event) => setTexts({ ...texts, [cap]: event.currentTarget.value })} />
            <Spent view={view} cap={cap} limit={caps[cap]} />
            {problems[cap] && <small class="approvals-problem" role="alert">{t(PROBLEMS[problems[cap]])}</small>}
          </label>
        ))}
        <label class="controls-cap">
          <span>{t('controls.waitsTitle')}</span>
          <select value={waitS ?? ''} onChange={(event) => setWaitS(event.currentTarget.value ? Number(event.currentTarget.value) : null)}>
            <option value="">{t('controls.waitsDefault')}</option>
            {waitChoices(waitS).map((seconds) => <option key={seconds} value={seconds}>{spoken(seconds)}</option>)}
          </select>
        </label>
        <label class="controls-cap">
          <span>{t('controls.onTimeout')}</span>
          <select value={onTimeout} onChange={(event) => setOnTimeout(event.currentTarget.value as 'reject' | 'cancel')}>
            <option value="reject">{t('controls.onTimeoutReject')}</option>
            <option value="cancel">{t('controls.onTimeoutCancel')}</option>
          </select>
        </label>
      </div>
    </Sheet>
  );
}

function nameOf(cap: Cap, view: SessionState): string {
  return cap === 'cost' && view.cost ? t('controls.capCostIn', { currency: view.cost.currency }) : t(NAMES[cap]);
}

/** What was spent of it, where the agent tells. */
function Spent({ view, cap, limit }: { view: SessionState; cap: Cap; limit: number | null | undefined }): JSX.Element | null {
  const spent = spentOf(view, cap);
  if (spent === null) return null;
  const share = shareSpent(limit, spent);
  const shown = cap === 'cost' ? `${spent.toLocaleString(undefined, { maximumFractionDigits: 4 })} ${view.cost?.currency ?? ''}` : spent.toLocaleString();
  return (
    <small class="controls-spent">
      {share !== null && <progress value={share} max={1} aria-label={t(NAMES[cap])} class={share >= 0.8 ? 'controls-near' : undefined} />}
      <span>{t('controls.spent', { n: shown })}</span>
    </small>
  );
}

function spentOf(view: SessionState, cap: Cap): number | null {
  if (cap === 'tokens') return view.tokens ? view.tokens.inputTokens + view.tokens.outputTokens : null;
  return cap === 'cost' ? (view.cost?.amount ?? null) : null;
}

function spoken(seconds: number): string {
  if (seconds % 3600 === 0) return t('controls.hours', { n: seconds / 3600 });
  return seconds % 60 === 0 ? t('controls.minutes', { n: seconds / 60 }) : t('controls.seconds', { n: seconds });
}
