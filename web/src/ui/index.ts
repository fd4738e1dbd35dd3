/** The small parts that every view uses. */
export { AgentSign } from './agent';
export { Badge } from './badge';
export { Button, IconButton, type ButtonProps } from './button';
export { Copy, copyText } from './copy';
export { Icon, type IconName } from './icon';
export { lazy } from './lazy';
export { COARSE, NARROW, useMedia, WIDE } from './media';
export { Menu, type MenuItem } from './menu';
export { Sheet } from './sheet';
export { sizeInWords } from './size';
export { Spinner } from './spinner';
export { Tabs, type Tab } from './tabs';
export { clockTime } from '../i18n';
export { ago, Elapsed, now, span, Time } from './time';
export { dropToasts, toast, Toasts } from './toast';
export { Unbroken } from './unbroken';
