/**
 * Somebody leaves: whatever this browser kept of theirs goes, before anybody else comes.
 *
 * Rule: who keeps what a person wrote says here how it is forgotten; what lies in storage goes by its name, also where the part of
 * the page that wrote it is not loaded.
 */
type ForgetListener = () => void;
const listeners = new Set<ForgetListener>();

/** What a person wrote or read, as opposed to how they like the page to look. */
const PERSONAL = ['trunkline.draft.', 'trunkline.outbox', 'trunkline.logins', 'trunkline.place.'];

export function onForgetPersonalData(forget: ForgetListener): void {
  listeners.add(forget);
}

/** Forget what was theirs: on logging out, when the hub no longer knows us, and when this browser becomes another device. */
export function forgetPersonalData(): void {
  listeners.forEach((forget) => forget());
  for (const name of ['localStorage', 'sessionStorage'] as const) forgetIn(name);
}

function forgetIn(name: 'localStorage' | 'sessionStorage'): void {
  try {
    const storage = globalThis[name];
    const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '');
    keys.filter((key) => PERSONAL.some((prefix) => key.startsWith(prefix))).forEach((key) => storage.removeItem(key));
  } catch {
    // Forbidden: nothing is there.
  }
}
