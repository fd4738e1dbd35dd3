/** In a cluster: whose policy is shown, the cluster's or that of the node which shows the page, and the way to the other one. */
import type { JSX } from 'preact';
import type { PolicyView } from '../../generated/api';
import { pathOf } from '../../hub/http';
import { t } from '../../i18n';

type Whose = PolicyView['of'];

/** Where a policy is read and written; whose it is need not be said where there is only one. */
export function policyPath({ of, node }: { of: Whose | undefined; node?: string | null }): string {
  return pathOf(['policy'], { of: node === null ? undefined : of });
}

/** Each has its own unsaved changes. */
export function draftKey(whose: Whose | undefined): string {
  return whose === undefined ? 'policy' : `policy.${whose}`;
}

export function WhosePolicy({ policy, onWhose }: { policy: PolicyView; onWhose: (whose: Whose) => void }): JSX.Element {
  const node = policy.node ?? '';
  const choices: [Whose, string][] = [['cluster', t('policy.whoseCluster')], ['node', t('policy.whoseNode', { node })]];
  return (
    <>
      <fieldset class="policy-row policy-whose">
        <legend class="visually-hidden">{t('policy.whose')}</legend>
        {choices.map(([whose, words]) => (
          <label key={whose} class="approvals-choice"><input type="radio" name="whose" checked={policy.of === whose} onChange={() => onWhose(whose)} /><span>{words}</span></label>
        ))}
      </fieldset>
      <p class="approvals-note">{policy.of === 'cluster' ? t('policy.ofCluster') : t('policy.ofNode', { node })}</p>
    </>
  );
}
