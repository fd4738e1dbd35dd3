/** The login: what to do when the hub does not know this browser. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import '../../style/login.css';
import { connection } from '../../hub/connection';
import type { HubError } from '../../hub/http';
import { useWayIn } from '../../hub/way_in';
import { t } from '../../i18n';
import { secret as opened } from '../../route';
import { Button, Copy, Icon, Unbroken } from '../../ui';
import { enterByHand, enterTrouble } from './enter';

export function LoginView(): JSX.Element {
  const [secret, setSecret] = useState('');
  const [busy, setBusy] = useState(false);
  const way = useWayIn();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const entered = await enterByHand(secret.trim());
    setBusy(false);
    if (!entered) return;
    setSecret('');
    connection.retryNow();
  };
  return (
    <div class="login">
      <h1><Icon name="lock" size={22} /> {t('login.title')}</h1>
      <Trouble error={enterTrouble.value} />
      <p>{t(way.revoked ? 'login.revoked' : 'login.text')}</p>
      <ol class="login-ways">
        <li>
          <p>{t('login.fromTerminal')}</p>
          <p class="login-command"><code><Unbroken words={way.command} /></code><Copy text={way.command} /></p>
        </li>
        <li><p>{t('login.fromDevice')}</p></li>
        <li>
          <form onSubmit={(event) => void submit(event)}>
            <label for="login-secret">{t('login.byHand')}</label>
            <div class="login-entry">
              <input id="login-secret" type="password" aria-label={t('login.secret')} aria-describedby="login-hint" value={secret}
                autocomplete="off" autocapitalize="off" spellcheck={false} onInput={(event) => setSecret(event.currentTarget.value)} />
              <Button kind="primary" type="submit" busy={busy} disabled={!secret.trim()}>{t('login.enter')}</Button>
            </div>
            <p class="login-hint" id="login-hint">{t('login.secretHint')}</p>
          </form>
        </li>
      </ol>
    </div>
  );
}

function Trouble({ error }: { error: HubError | null }): JSX.Element | null {
  if (!error) return null;
  return <p class="login-trouble" role="alert"><Icon name="warning" /> {wordsOf(error)}</p>;
}

function wordsOf(error: HubError): string {
  if (error.status === 429) return t('login.tooOften');
  if (error.status === 401 || error.status === 404) return opened ? t('login.usedCode') : t('login.wrong');
  return error.message;
}
