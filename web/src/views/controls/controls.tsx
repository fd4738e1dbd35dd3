/**
 * Steering a session beside talking to it: stop, pause, go on, end; mode, model, options; what it may spend.
 *
 * Rule 1: a control that cannot be used says why. Nothing looks done before the hub says that it is.
 * Rule 2: a turn that is being stopped can be stopped harder, and that is said before it is done.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { http, pathOf } from '../../hub/http';
import { awayReason } from '../../hub/cluster';
import { connection } from '../../hub/connection';
import { byWhom } from '../../hub/people';
import { t, type Key } from '../../i18n';
import type { OpenSession } from '../../model/open_session';
import { Button, COARSE, IconButton, Menu, Sheet, toast, useMedia, type MenuItem } from '../../ui';
import { enterSends, setEnterSends } from '../composer/drafts';
import { sendCommand, useControl } from './run_control';
import { settingsOf, type Setting, type Settings } from './agent_settings';
import { LimitsSheet } from './limits_sheet';
import { actStates, type Act, type ActState, type Why } from './availability';
import '../../style/shared_views.css';

const WHY: Record<Why, Key> = {
  offline: 'controls.whyOffline', away: 'controls.whyAway', noScope: 'controls.whyNoScope', watchOnly: 'controls.whyWatchOnly', noTurn: 'controls.whyNoTurn',
  cancelling: 'controls.whyCancelling', paused: 'controls.whyPaused', notPaused: 'controls.whyNotPaused', over: 'controls.whyOver', deleted: 'controls.whyOver',
};

type Open = 'none' | 'end' | 'limits' | 'options';

export function Controls({ session }: { session: OpenSession }): JSX.Element {
  const view = session.state.value;
  const states = actStates(view, connection.state.value === 'online', connection.scope.value, awayReason(view) !== '');
  const [open, setOpen] = useState<Open>('none');
  const settings = settingsOf(view.modes, view.mode, view.configOptions, t('controls.mode'));
  const close = (): void => setOpen('none');
  const sends = enterSends(useMedia(COARSE));
  return (
    <div class="controls" role="group" aria-label={t('controls.label')}>
      {view.turn && <Stop session={session} turnId={view.turn.turnId} state={states.cancel} />}
      <Hold session={session} states={states} />
      {settings.mode && <Choose session={session} setting={settings.mode} state={states.configure} />}
      {settings.model && <Choose session={session} setting={settings.model} state={states.configure} />}
      <Menu label={t('controls.more')} items={menuOf(session, states, settings, sends, setOpen)} />
      {view.paused && <p class="controls-held" role="status">{t(view.turn ? 'controls.heldInTurn' : 'controls.held')}</p>}
      {open === 'end' && <EndSheet session={session} onClose={close} />}
      {open === 'limits' && <LimitsSheet session={session} state={states.limits} onClose={close} />}
      {open === 'options' && <OptionsSheet session={session} settings={settings} state={states.configure} onClose={close} />}
    </div>
  );
}

/** Why it cannot be done, as a tooltip; what it does where it can. */
function hint(state: ActState, does: string): string {
  return state.can ? does : t(WHY[state.why]);
}

function menuOf(session: OpenSession, states: Record<Act, ActState>, settings: Settings, sends: boolean, open: (what: Open) => void): MenuItem[] {
  const { turn } = session.state.peek();
  const off = (act: Act): { disabled: boolean } => ({ disabled: !states[act].can });
  const interrupt = (): void => void sendCommand(session.sessionId, { command: 'pause', _meta: { interrupt: true } }).catch(() => undefined);
  return [
    ...(settings.others.length ? [{ label: t('controls.options'), icon: 'sliders' as const, onSelect: () => open('options') }] : []),
    { label: t('controls.limits'), icon: 'coin', onSelect: () => open('limits') },
    { label: t('composer.enterSends'), checked: sends, onSelect: () => setEnterSends(!sends) },
    ...(turn && states.pause.can ? [{ label: t('controls.pauseNow'), icon: 'pause' as const, onSelect: interrupt }] : []),
    { label: t('controls.terminate'), icon: 'stop', danger: true, onSelect: () => open('end'), ...off('terminate') },
  ];
}

function Stop({ session, turnId, state }: { session: OpenSession; turnId: string; state: ActState }): JSX.Element {
  const [stopping, setStopping] = useState<string | null>(null);
  const [late, setLate] = useState(false);
  const { busy, act } = useControl();
  const isStopping = stopping === turnId;
  useEffect(() => {
    setLate(false);
    if (!isStopping) return undefined;
    const timer = setTimeout(() => setLate(true), 4_000);
    return () => clearTimeout(timer);
  }, [isStopping]);
  const stop = async (): Promise<void> => {
    if (await act(() => sendCommand(session.sessionId, { command: 'cancel' }))) setStopping(turnId);
  };
  const words = isStopping ? t(late ? 'controls.cancelAgain' : 'controls.cancelling') : t('controls.cancel');
  return (
    <Button kind={late ? 'danger' : 'plain'} icon="stop" busy={busy || (isStopping && !late)} disabled={!state.can}
      title={hint(state, t(late ? 'controls.cancelAgainHint' : 'controls.cancelHint'))} onClick={() => void stop()}>{words}</Button>
  );
}

function Hold({ session, states }: { session: OpenSession; states: Record<Act, ActState> }): JSX.Element {
  const { paused, status, turn } = session.state.value;
  const { busy, act } = useControl();
  const send = async (command: 'pause' | 'resume'): Promise<void> => {
    if ((await act(() => sendCommand(session.sessionId, { command }))) && command === 'pause' && turn) toast(t('controls.pauseHint'));
  };
  if (paused || status === 'completed') {
    const who = paused ? t(paused.reason ? 'controls.pausedReason' : 'controls.pausedBy', { who: byWhom(paused.by), reason: paused.reason ?? '' }) : t('controls.restart');
    return <Button kind="primary" icon="play" busy={busy} disabled={!states.resume.can} title={hint(states.resume, who)} onClick={() => void send('resume')}>{t(paused ? 'controls.resume' : 'controls.restart')}</Button>;
  }
  return <IconButton icon="pause" busy={busy} disabled={!states.pause.can} label={states.pause.can ? t('controls.pause') : `${t('controls.pause')}: ${t(WHY[states.pause.why])}`} onClick={() => void send('pause')} />;
}

function Choose({ session, setting, state, wide = false }: { session: OpenSession; setting: Setting; state: ActState; wide?: boolean }): JSX.Element {
  const { busy, act } = useControl();
  const [wanted, setWanted] = useState<string | null>(null);
  const choose = async (value: string): Promise<void> => {
    setWanted(value);
    const [path, body] = setting.by === 'mode' ? ['mode', { modeId: value }] : ['config', { configId: setting.id, value }];
    await act(() => http.post(pathOf(['sessions', session.sessionId, path as string]), body));
    setWanted(null);
  };
  const current = setting.choices.find((choice) => choice.value === (wanted ?? setting.current));
  return (
    <label class={wide ? 'controls-choose controls-wide' : 'controls-choose'} title={hint(state, current?.description ?? setting.name)}>
      {wide && <span aria-hidden="true">{setting.name}</span>}
      <select aria-label={setting.name} value={wanted ?? setting.current} disabled={!state.can || busy} aria-busy={busy || undefined} onChange={(event) => void choose(event.currentTarget.value)}>
        {!current && <option value={setting.current}>{setting.current}</option>}
        {groupsOf(setting).map(([group, choices]) => (group === ''
          ? choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.name}</option>)
          : <optgroup key={group} label={group}>{choices.map((choice) => <option key={choice.value} value={choice.value}>{choice.name}</option>)}</optgroup>))}
      </select>
    </label>
  );
}

function groupsOf(setting: Setting): [string, Setting['choices']][] {
  const groups = new Map<string, Setting['choices']>();
  for (const choice of setting.choices) groups.set(choice.group ?? '', [...(groups.get(choice.group ?? '') ?? []), choice]);
  return [...groups];
}

function OptionsSheet({ session, settings, state, onClose }: { session: OpenSession; settings: Settings; state: ActState; onClose: () => void }): JSX.Element {
  const { busy, act } = useControl();
  const turn = (id: string, value: boolean): void => void act(() => http.post(pathOf(['sessions', session.sessionId, 'config']), { configId: id, value }));
  return (
    <Sheet title={t('controls.optionsTitle')} onClose={onClose}>
      <div class="controls-options">
        {!state.can && <p class="approvals-note">{t(WHY[state.why])}</p>}
        {settings.others.map((option) => ('choices' in option
          ? <Choose key={option.id} wide session={session} setting={option} state={state} />
          : (
            <label key={option.id} class="approvals-choice">
              <input type="checkbox" checked={option.currentValue} disabled={!state.can || busy} onChange={(event) => turn(option.id, event.currentTarget.checked)} />
              <span>{option.name}{option.description && <small>{option.description}</small>}</span>
            </label>
          )))}
      </div>
    </Sheet>
  );
}

function EndSheet({ session, onClose }: { session: OpenSession; onClose: () => void }): JSX.Element {
  const { busy, act } = useControl();
  const end = async (): Promise<void> => {
    if (await act(() => sendCommand(session.sessionId, { command: 'terminate' }))) onClose();
  };
  return (
    <Sheet title={t('controls.terminateTitle')} onClose={onClose}
      actions={<><Button onClick={onClose}>{t('common.cancel')}</Button><Button kind="danger" icon="stop" busy={busy} onClick={() => void end()}>{t('controls.terminateDo')}</Button></>}>
      <p>{t('controls.terminateText')}</p>
    </Sheet>
  );
}
