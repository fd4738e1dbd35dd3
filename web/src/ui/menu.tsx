/**
 * A button that opens a list of things to do. Arrow keys move, Escape and a click elsewhere close.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from './button';
import { Icon, type IconName } from './icon';

export interface MenuItem {
  label: string;
  icon?: IconName;
  onSelect?: () => void;
  href?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Of a choice: whether it is the one in force. */
  checked?: boolean;
  /** A line above it. */
  apart?: boolean;
}

interface MenuProps {
  /** What the button means. */
  label: string;
  items: MenuItem[];
  icon?: IconName;
  /** Instead of the icon: what stands on the button. */
  children?: ComponentChildren;
  side?: 'left' | 'right';
  class?: string;
}

export function Menu({ label, items, icon = 'more', children, side = 'right', class: extra }: MenuProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useCloseOutside(root, open, () => setOpen(false));
  const toggle = (event: MouseEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    setOpen(!open);
  };
  // What was pressed goes with the list: the focus is where a dialog that it opens can give it back to.
  const done = (): void => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>('button')?.focus();
  };
  return (
    <div class={extra ? `ui-menu ${extra}` : 'ui-menu'} ref={root} onKeyDown={(event) => pressed(event, root.current, () => setOpen(false))}>
      {children
        ? <button type="button" class="ui-button ui-button-quiet" aria-haspopup="menu" aria-expanded={open} aria-label={label} title={label} onClick={toggle}>{children}</button>
        : <IconButton icon={icon} label={label} expanded={open} onClick={toggle} />}
      {open && <MenuList label={label} items={items} side={side} onDone={done} />}
    </div>
  );
}

function MenuList({ label, items, side, onDone }: { label: string; items: MenuItem[]; side: string; onDone: () => void }): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector<HTMLElement>('[role^=menuitem]:not([disabled])')?.focus(), []);
  return (
    <div class={`ui-menu-list ui-menu-${side}`} role="menu" aria-label={label} ref={list}>
      {items.map((item) => <MenuEntry key={item.label} item={item} onDone={onDone} />)}
    </div>
  );
}

function MenuEntry({ item, onDone }: { item: MenuItem; onDone: () => void }): JSX.Element {
  const inside = (
    <>
      {item.checked !== undefined ? <Icon name="check" size={16} class={item.checked ? '' : 'ui-menu-unchecked'} /> : item.icon && <Icon name={item.icon} size={16} />}
      <span>{item.label}</span>
    </>
  );
  const look = `ui-menu-item${item.danger ? ' ui-menu-danger' : ''}${item.apart ? ' ui-menu-apart' : ''}`;
  if (item.href !== undefined) return <a class={look} role="menuitem" tabIndex={-1} href={item.href} onClick={onDone}>{inside}</a>;
  const select = (event: MouseEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    onDone();
    item.onSelect?.();
  };
  const role = item.checked === undefined ? 'menuitem' : 'menuitemradio';
  return (
    <button type="button" class={look} role={role} tabIndex={-1} aria-checked={item.checked} disabled={item.disabled} onClick={select}>
      {inside}
    </button>
  );
}

function pressed(event: KeyboardEvent, root: HTMLElement | null, close: () => void): void {
  const entries = [...(root?.querySelectorAll<HTMLElement>('[role^=menuitem]:not([disabled])') ?? [])];
  if (!entries.length) return;
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    entries.at(to % entries.length)?.focus();
  } else if (event.key === 'Escape') {
    event.stopPropagation();
    close();
    root?.querySelector<HTMLElement>('button')?.focus();
  } else if (event.key === 'Tab') {
    close();
  }
}

function useCloseOutside(root: { current: HTMLElement | null }, open: boolean, close: () => void): void {
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) close();
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
}
