/** Carrying out what a control stands for: one at a time each, and what fails is shown. */
import { useState } from 'preact/hooks';
import type { ACPCommand } from '../../generated/agent-context';
import { asHubError } from '../../hub/http';
import { connection } from '../../hub/connection';
import { t } from '../../i18n';
import { toast } from '../../ui';

interface ControlState {
  busy: boolean;
  /** True where it was done. */
  act(what: () => Promise<unknown>): Promise<boolean>;
}

export function useControl(): ControlState {
  const [busy, setBusy] = useState(false);
  const act = async (what: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    try {
      await what();
      return true;
    } catch (error) {
      toast(t('controls.failed', { why: asHubError(error).message }), 'bad');
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, act };
}

/** A command whose failure is shown here, and so need not stay in the outbox. */
export async function sendCommand(sessionId: string, command: ACPCommand): Promise<unknown> {
  const sent = connection.command(sessionId, command);
  try {
    return await sent.done;
  } catch (error) {
    sent.drop();
    throw error;
  }
}
