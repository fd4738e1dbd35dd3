/**
 * How a person gets in from a terminal: the hub's own command, as it was installed on the machine that it runs on.
 *
 * Rule: a command that is shown can be copied and run; so it is the hub that names its program and its data folder.
 */
import { useEffect, useState } from 'preact/hooks';
import type { WayIn } from '../generated/api';
import { http } from './http';

const OPEN = 'open --print';
const REACHABLE = 'serve --host 0.0.0.0 --allow-host <name> --tls-cert <file> --tls-key <file> --public-url https://<name>:7420';

/** What the hub says of it; until it has, as most people installed it. */
export function useWayIn(): WayIn {
  const [way, setWay] = useState<WayIn>({ command: `trunkline ${OPEN}` });
  useEffect(() => {
    http.get<WayIn>('/auth/login').then(setWay, () => undefined); // that the hub is away is shown elsewhere
  }, []);
  return way;
}

/** The command that starts the same hub so that other machines reach it. */
export function reachable({ command }: WayIn): string {
  return command.replace(OPEN, REACHABLE);
}
