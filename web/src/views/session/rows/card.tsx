// A line that can be openRows: the frame of calls, groups, thoughts and sub-agents.
//
// Rule 1: what is inside is drawn only while it is open.
// Rule 2: the whole line is one button with its state; what else can be done with it stands beside it.

import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon, type IconName } from '../../../ui';

interface CardProps {
  icon: ComponentChildren;
  title: ComponentChildren;
  /** A few words that stand under the title where there is little room, while it is closed: what is inside says it then. */
  note?: string | undefined;
  /** What stands at the end of the line. */
  end?: ComponentChildren;
  open: boolean;
  onToggle: () => void;
  look?: string;
  label?: string;
  children?: () => ComponentChildren;
  /** What else can be done with it, while it is open. */
  tools?: ComponentChildren;
  /** Nothing to open. */
  flat?: boolean;
}

export function Card({ icon, title, note, end, open, onToggle, look, label, children, tools, flat }: CardProps): JSX.Element {
  const inside = useId();
  const shown = open && !flat;
  const drawn = shown && children !== undefined;
  return (
    <div class={`session-card${look ? ` session-card-${look}` : ''}${shown ? ' session-card-open' : ''}`}>
      <div class="session-card-head">
        <button type="button" class="session-card-line" aria-expanded={flat ? undefined : open} aria-controls={drawn ? inside : undefined}
          aria-label={label} onClick={onToggle} disabled={flat}>
          <span class="session-card-icon">{icon}</span>
          <span class="session-card-title">{title}</span>
          {note !== undefined && !shown && <span class="session-card-note" title={note} aria-hidden={label !== undefined || undefined}>{note}</span>}
          {end !== undefined && <span class="session-card-end" aria-hidden={label !== undefined || undefined}>{end}</span>}
          {!flat && <Icon name={open ? 'chevron-down' : 'chevron-right'} size={14} class="session-card-chevron" />}
        </button>
        {shown && tools}
      </div>
      {drawn && <div class="session-card-inside" id={inside}>{children()}</div>}
    </div>
  );
}

export function CardIcon({ name }: { name: IconName }): JSX.Element {
  return <Icon name={name} size={16} />;
}
