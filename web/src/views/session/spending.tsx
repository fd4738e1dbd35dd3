// How full the context is, and what it cost: a ring and a small plot in the head, more of both in a sheet.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../i18n';
import type { Point } from '../../model/spending';
import { Sheet } from '../../ui';
import { useSessionView } from './view_state';
import { costInWords, tokensInWords } from './rows/labels';

const RADIUS = 8;
const MOMENT_MS = 1_000;
const ROUND = 2 * Math.PI * RADIUS;

function Ring({ percent, size = 20 }: { percent: number; size?: number }): JSX.Element {
  const part = Math.min(100, Math.max(0, percent)) / 100;
  const tone = percent >= 90 ? 'full' : percent >= 70 ? 'high' : 'low';
  return (
    <svg class={`session-ring session-ring-${tone}`} width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r={RADIUS} class="session-ring-way" />
      <circle cx="10" cy="10" r={RADIUS} class="session-ring-part" stroke-dasharray={`${part * ROUND} ${ROUND}`} transform="rotate(-90 10 10)" />
    </svg>
  );
}

/** Points as a line from the left to the right, from zero to the largest. */
function Plot({ points, width = 56, height = 18 }: { points: readonly Point[]; width?: number; height?: number }): JSX.Element | null {
  if (points.length < 2) return null;
  const first = points[0]!.at;
  const time = points[points.length - 1]!.at - first;
  // What came in one moment is spread by its order: all of it in one place says nothing.
  const across = (at: number, index: number): number => (time < MOMENT_MS ? index / (points.length - 1) : (at - first) / time);
  const most = Math.max(...points.map((point) => point.value)) || 1;
  const spots = points.map(({ at, value }, index) => `${(across(at, index) * width).toFixed(1)},${(height - 1 - (value / most) * (height - 2)).toFixed(1)}`);
  return (
    <svg class="session-plot" width={width} height={height} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,${height} ${spots.join(' ')} ${width},${height}`} class="session-plot-area" />
      <polyline points={spots.join(' ')} class="session-plot-line" />
    </svg>
  );
}

export function SpendingSummary(): JSX.Element | null {
  const { session } = useSessionView();
  const [open, setOpen] = useState(false);
  const { usage, cost, tokens } = session.state.value;
  if (!usage?.size && !cost && !tokens) return null;
  const percent = usage?.size ? (100 * (usage.used ?? 0)) / usage.size : undefined;
  const contextWords = percent === undefined ? undefined : t('session.contextRing', { percent: Math.round(percent), used: tokensInWords(usage!.used ?? 0), limit: tokensInWords(usage!.size!) });
  const costWords = cost && cost.amount > 0 ? costInWords(cost.amount, cost.currency) : undefined;
  const label = [contextWords, costWords && t('session.cost', { cost: costWords })].filter(Boolean).join('. ') || t('session.spending');
  return (
    <>
      <button type="button" class="session-spent" aria-label={label} title={label} onClick={() => setOpen(true)}>
        {percent !== undefined && <><Ring percent={percent} /><span class="session-spent-percent" aria-hidden="true">{Math.round(percent)} %</span></>}
        {costWords !== undefined && <><Plot points={session.spending.cost.value} /><span aria-hidden="true">{costWords}</span></>}
        {percent === undefined && costWords === undefined && tokens && <span aria-hidden="true">{t('session.turnTokens', { n: tokensInWords(tokens.inputTokens + tokens.outputTokens) })}</span>}
      </button>
      {open && <SpentSheet onClose={() => setOpen(false)} />}
    </>
  );
}

function SpentSheet({ onClose }: { onClose: () => void }): JSX.Element {
  const { session } = useSessionView();
  const { usage, cost, tokens } = session.state.value;
  return (
    <Sheet title={t('session.spending')} onClose={onClose}>
      <dl class="session-figures">
        {cost && <Figure name={t('session.spendingCost')} value={costInWords(cost.amount, cost.currency)} points={session.spending.cost.value} />}
        {usage?.size ? (
          <Figure name={t('session.spendingContext')} points={session.spending.context.value}
            value={t('session.spendingContextOf', { used: tokensInWords(usage.used ?? 0), limit: tokensInWords(usage.size) })} />
        ) : null}
        {tokens && <Figure name={t('session.spendingTokens')} value={tokensInWords(tokens.inputTokens + tokens.outputTokens)} points={session.spending.tokens.value} />}
      </dl>
      {tokens && (
        <dl class="session-token-list">
          <div><dt>{t('session.spendingInput')}</dt><dd>{tokens.inputTokens.toLocaleString()}</dd></div>
          <div><dt>{t('session.spendingOutput')}</dt><dd>{tokens.outputTokens.toLocaleString()}</dd></div>
          {tokens.cacheReadTokens ? <div><dt>{t('session.spendingCacheRead')}</dt><dd>{tokens.cacheReadTokens.toLocaleString()}</dd></div> : null}
          {tokens.cacheWriteTokens ? <div><dt>{t('session.spendingCacheWrite')}</dt><dd>{tokens.cacheWriteTokens.toLocaleString()}</dd></div> : null}
        </dl>
      )}
      {!cost && !usage?.size && !tokens && <p>{t('session.spendingNone')}</p>}
    </Sheet>
  );
}

function Figure({ name, value, points }: { name: string; value: string; points: readonly Point[] }): JSX.Element {
  return <div class="session-figure"><dt>{name}</dt><dd>{value}</dd><Plot points={points} width={320} height={64} /></div>;
}
