/** English: the language that the page is written in. */
import { approvals } from './approvals';
import { cluster } from './cluster';
import { common } from './common';
import { composer } from './composer';
import { controls } from './controls';
import { devices } from './devices';
import { files } from './files';
import { home } from './home';
import { login } from './login';
import { content } from './content';
import { newSession } from './new';
import { notices } from './notices';
import { policy } from './policy';
import { session } from './session';

export const en = { approvals, cluster, common, composer, controls, devices, files, home, login, content, new: newSession, notices, policy, session } as const;
