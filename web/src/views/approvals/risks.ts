/** How a level of risk is told. */
import type { RiskLevel } from '../../generated/agent-context';
import type { Key } from '../../i18n';

export const RISKS: Record<RiskLevel, { words: Key; tone: 'plain' | 'good' | 'warn' | 'bad' }> = {
  low: { words: 'approvals.riskLow', tone: 'good' },
  medium: { words: 'approvals.riskMedium', tone: 'plain' },
  high: { words: 'approvals.riskHigh', tone: 'warn' },
  critical: { words: 'approvals.riskCritical', tone: 'bad' },
};
