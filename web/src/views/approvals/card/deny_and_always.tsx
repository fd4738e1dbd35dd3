/** Deciding with more than one press: with a reason, or for longer than once. */
import type { JSX } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalView } from '../../../generated/api';
import type { Pending } from '../../../hub/session_list';
import { t, type Key } from '../../../i18n';
import { Button, Sheet } from '../../../ui';
import { RuleAnswers } from '../rule/rule_answers';
import type { Decision, Offered } from './decision';
import { Ended, EndedLine } from '../resolution_line';
import { ruleFor, type Scope } from '../rule/rule';
import { RuleLimits, RuleText } from '../rule/rule_view';
import { RefusalLine } from '../refusals';
import { CardButton } from '../steady_card';
import { backToCard } from '../typing';

interface DenyPanelProps {
  ways: Offered['deny'];
  longer: boolean;
  reason: string;
  onReason: (reason: string) => void;
  onDeny: (decision: Decision) => void;
  onLonger: () => void;
  onBack: () => void;
}

/** Why not, in words that the agent reads. Enter denies. What ends elsewhere meanwhile says so, and the words stay to be read. */
export function DenyPanel({ ways, longer, reason, onReason, onDeny, onLonger, onBack }: DenyPanelProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const ended = useContext(Ended) !== null;
  const Back = ended ? Button : CardButton; // the way out is there for as long as the panel is
  // Whoever sees the field can write in it: what is typed before it has the focus would be lost.
  useLayoutEffect(() => {
    field.current?.focus();
    form.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const deny = (more: Partial<Decision> = {}): void => {
    if (ended) return;
    backToCard(form.current);
    onDeny({ approve: false, reason, ...more });
  };
  const back = (): void => {
    backToCard(form.current);
    onBack();
  };
  return (
    <form ref={form} class="approvals-deny-panel" data-decides onSubmit={(event) => { event.preventDefault(); deny(); }}
      onKeyDown={(event) => { if (event.key === 'Escape') { event.stopPropagation(); back(); } }}>
      <EndedLine />
      <label>
        <span>{t('approvals.denyReason')}</span>
        <input ref={field} type="text" dir="auto" value={reason} readOnly={ended} maxLength={1000} onInput={(event) => onReason(event.currentTarget.value)} autocomplete="off" enterkeyhint="done" />
      </label>
      <footer class="approvals-actions">
        <CardButton kind="danger" icon="cross" type="submit">{t('approvals.deny')}</CardButton>
        <CardButton icon="stop" onClick={() => deny({ stop: true })}>{t('approvals.denyAndStop')}</CardButton>
        {ways.map((way) => <CardButton key={way.optionId} onClick={() => deny({ optionId: way.optionId })}>{way.name}</CardButton>)}
        {longer && <CardButton onClick={onLonger}>{t('approvals.denyLonger')}</CardButton>}
        <Back kind="quiet" class="approvals-back" onClick={back}>{t('approvals.back')}</Back>
      </footer>
      <RefusalLine />
    </form>
  );
}

type Longer = Exclude<Scope, 'once'>;

const SCOPES: Record<Longer, { name: Key; hint: Key; approve: Key; deny: Key }> = {
  turn: { name: 'approvals.scopeTurn', hint: 'approvals.scopeTurnHint', approve: 'approvals.approveTurn', deny: 'approvals.denyTurn' },
  session: { name: 'approvals.scopeSession', hint: 'approvals.scopeSessionHint', approve: 'approvals.approveSession', deny: 'approvals.denySession' },
  always: { name: 'approvals.scopeAlways', hint: 'approvals.scopeAlwaysHint', approve: 'approvals.approveAlways', deny: 'approvals.denyAlways' },
};

interface AlwaysSheetProps {
  pending: Pending;
  approval: ApprovalView;
  choices: Offered;
  allow: boolean;
  /** What the agent is told of a denial. */
  reason: string;
  turnId?: string;
  onDecide: (decision: Decision) => void;
  onClose: () => void;
}

/** For how long, and exactly the rule that this writes: before it is written. */
export function AlwaysSheet({ pending, approval, choices, allow, reason, turnId, onDecide, onClose }: AlwaysSheetProps): JSX.Element {
  const scopes = choices.scopes.filter((scope): scope is Longer => scope !== 'once');
  const [scope, setScope] = useState<Longer>(scopes.at(-1) ?? 'always');
  const rule = approval.always ? ruleFor(approval.always, allow, scope, pending.sessionId, turnId) : null;
  const optionId = choices.onlyForGood ? choices.approve[0]?.optionId : undefined;
  const ended = useContext(Ended) !== null;
  const decide = (): void => onDecide({ approve: allow, scope, ...(allow ? {} : { reason }), ...(optionId && allow ? { optionId } : {}) });
  return (
    <Sheet title={t(allow ? 'approvals.alwaysTitle' : 'approvals.neverTitle')} onClose={onClose}
      actions={<Button kind={allow ? 'primary' : 'danger'} disabled={ended} onClick={decide}>{t(allow ? SCOPES[scope].approve : SCOPES[scope].deny)}</Button>}>
      <div class="approvals-always">
        <EndedLine />
        {!allow && reason.trim() && <p class="approvals-note">{t('approvals.tellsReason', { reason: reason.trim() })}</p>}
        {choices.onlyForGood && <p class="approvals-note">{t('approvals.onlyForGood')}</p>}
        <fieldset class="approvals-scopes">
          <legend>{t('approvals.scopeLabel')}</legend>
          {scopes.map((each) => (
            <label key={each} class="approvals-scope">
              <input type="radio" name="scope" checked={each === scope} onChange={() => setScope(each)} />
              <span><strong>{t(SCOPES[each].name)}</strong><small>{t(SCOPES[each].hint)}</small></span>
            </label>
          ))}
        </fieldset>
        {rule && (
          <section class="approvals-rule">
            <h3>{t(scope === 'always' ? 'approvals.ruleWritten' : 'approvals.ruleKept')}</h3>
            <RuleLimits rule={rule} />
            <RuleText rule={rule} />
            <p class="approvals-note">{t('approvals.ruleReason')} {t('approvals.alwaysHint')}</p>
          </section>
        )}
        {rule && <RuleAnswers requestId={approval.requestId} allow={allow} scope={scope} />}
      </div>
    </Sheet>
  );
}
