/** Buttons. A button that does something that takes time says so and cannot be pressed twice. */
import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon';
import { Spinner } from './spinner';

export interface ButtonProps {
  children: ComponentChildren;
  onClick?: (event: MouseEvent) => void;
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  icon?: IconName;
  type?: 'button' | 'submit';
  disabled?: boolean;
  /** Something is under way. */
  busy?: boolean;
  /** It does nothing for the moment, and whoever it belongs to says so to those who press it. */
  resting?: boolean;
  title?: string;
  class?: string;
  pressed?: boolean;
  expanded?: boolean;
  label?: string;
  autofocus?: boolean;
}

export function Button({ children, kind = 'plain', icon, type = 'button', busy, disabled, resting, class: extra, pressed, expanded, label, ...rest }: ButtonProps): JSX.Element {
  return (
    <button class={`ui-button ui-button-${kind}${extra ? ` ${extra}` : ''}`} type={type} disabled={disabled || busy}
      aria-busy={busy || undefined} aria-disabled={(resting && !disabled) || undefined} aria-pressed={pressed} aria-expanded={expanded} aria-label={label} {...rest}>
      {busy ? <Spinner size={16} /> : icon && <Icon name={icon} size={16} />}
      <span class="ui-button-text">{children}</span>
    </button>
  );
}

interface IconButtonProps {
  icon: IconName;
  /** What it does, for those who do not see it and as its tooltip. */
  label: string;
  onClick?: (event: MouseEvent) => void;
  disabled?: boolean;
  busy?: boolean;
  pressed?: boolean;
  expanded?: boolean;
  class?: string;
  size?: number;
  type?: 'button' | 'submit';
  kind?: 'plain' | 'primary' | 'danger';
}

export function IconButton({ icon, label, disabled, busy, pressed, expanded, class: extra, size = 18, type = 'button', kind = 'plain', onClick }: IconButtonProps): JSX.Element {
  return (
    <button class={`ui-icon-button ui-icon-button-${kind}${extra ? ` ${extra}` : ''}`} type={type} title={label} aria-label={label} onClick={onClick}
      disabled={disabled || busy} aria-busy={busy || undefined} aria-pressed={pressed} aria-expanded={expanded}>
      {busy ? <Spinner size={size} /> : <Icon name={icon} size={size} />}
    </button>
  );
}
