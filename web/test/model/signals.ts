import { Signal } from '@preact/signals';

export function isSignal(value: unknown): value is Signal<unknown> {
  return value instanceof Signal;
}
