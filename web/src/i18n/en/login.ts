/** Words of the login. */
export const login = {
  title: 'Log in to Trunkline',
  text: 'This browser is not known here. One of these lets it in:',
  revoked: 'This browser’s access was taken back. One of these lets it in again:',
  fromTerminal: 'On the machine that runs Trunkline, run this, and open the link that it prints in this browser:',
  fromDevice: 'On a device that is logged in already, open Menu › Devices and pair this one.',
  byHand: 'Or enter a code or a token',
  secret: 'Code or token',
  secretHint: 'A pairing code, a one-time code, or a token such as the one in the file “token” in Trunkline’s data folder',
  enter: 'Log in',
  usedCode: 'This code was used already, or has expired. Codes work once: ask for a new one.',
  wrong: 'This is no code or token that counts here.',
  tooOften: 'Too many wrong tries. Wait a while, then try again.',
} as const;
