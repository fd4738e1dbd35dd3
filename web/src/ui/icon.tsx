/** The page's icons: 24 by 24, drawn with strokes in the colour of the text around. Decoration unless it has a label. */
import type { JSX } from 'preact';

const SHAPES = {
  'arrow-down': 'M12 5v14M6 13l6 6 6-6',
  'arrow-left': 'M19 12H5M11 6l-6 6 6 6',
  'arrow-up': 'M12 19V5M6 11l6-6 6 6',
  attach: 'M19.5 11.5l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.4a1.7 1.7 0 0 1-2.3-2.3l7.6-7.7',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4',
  bolt: 'M13 3L5 13.5h6L10.5 21 19 10.5h-6z',
  box: 'M4 8l8-4.5L20 8v8l-8 4.5L4 16zM4 8l8 4.5L20 8M12 12.5v8',
  branch: 'M7 4v16M7 14c6 0 10-1.5 10-6M17 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  bulb: 'M9 17a6 6 0 1 1 6 0v1.5H9zM10 21h4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  'chevron-down': 'M6 9.5l6 6 6-6',
  'chevron-right': 'M9.5 6l6 6-6 6',
  'chevron-up': 'M6 14.5l6-6 6 6',
  circle: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z',
  clock: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 7.5V12l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  coin: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM14.5 9.5C14 8.5 13 8 12 8c-1.5 0-2.5.8-2.5 2s1 1.7 2.5 2 2.5.8 2.5 2-1 2-2.5 2c-1 0-2-.5-2.5-1.5M12 6.5v11',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  cross: 'M7 7l10 10M17 7L7 17',
  diff: 'M12 4v8M8 8h8M8 18h8',
  download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
  edit: 'M5 19l1-4L16.5 4.5l3 3L9 18zM14 7l3 3',
  external: 'M10 5H5v14h14v-5M14 4h6v6M20 4l-9 9',
  eye: 'M3 12s3.3-6 9-6 9 6 9 6-3.3 6-9 6-9-6-9-6zM12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  file: 'M6 3.5h8L18.5 8v12.5H6zM14 3.5V8h4.5',
  files: 'M8 3.5h7L19 7.5V17H8zM5 7v13.5h10',
  folder: 'M3.5 6h6l2 2.5h9V19h-17z',
  globe: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM4 12h16M12 4c2.5 2.3 3.5 5 3.5 8s-1 5.7-3.5 8c-2.5-2.3-3.5-5-3.5-8s1-5.7 3.5-8z',
  home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 2.5-2.5L20 17M15 9.5h.01',
  info: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 11v5M12 8h.01',
  key: 'M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 12h8v3M17 12v2.5',
  layers: 'M12 4l8 4.5-8 4.5-8-4.5zM4 12.5l8 4.5 8-4.5M4 16l8 4.5 8-4.5',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  list: 'M9 6h11M9 12h11M9 18h11M5 6h.01M5 12h.01M5 18h.01',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  menu: 'M4 7h16M4 12h16M4 17h16',
  minus: 'M5 12h14',
  more: 'M5.5 11.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6zM12 11.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6zM18.5 11.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6z',
  pause: 'M8.5 5v14M15.5 5v14',
  phone: 'M7 3h10v18H7zM11 18h2',
  play: 'M8 5l11 7-11 7z',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  plus: 'M12 5v14M5 12h14',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h3v3M20 14v6h-3M14 20h.01',
  question: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM9.7 9.7a2.3 2.3 0 1 1 3.5 2c-.8.5-1.2 1-1.2 1.8M12 16.5h.01',
  queue: 'M4 6h12M4 11h12M4 16h7M15 14.5l5 3-5 3z',
  refresh: 'M19 8a8 8 0 1 0 1 5M19.5 3.5V8H15',
  robot: 'M5 9h14v10H5zM12 9V5M9.5 13.5h.01M14.5 13.5h.01M10 16.5h4M12 5h.01',
  search: 'M11 17.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM16 16l4.5 4.5',
  send: 'M12 19V6M6 11.5L12 5.5l6 6',
  server: 'M4 4.5h16v6H4zM4 13.5h16v6H4zM7.5 7.5h.01M7.5 16.5h.01',
  shield: 'M12 3.5l7 2.5v5.5c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6z',
  sliders: 'M4 8h9M17 8h3M15 10.5v-5M4 16h3M11 16h9M9 18.5v-5',
  stop: 'M6.5 6.5h11v11h-11z',
  terminal: 'M4 5h16v14H4zM7.5 9.5l3 2.5-3 2.5M12.5 15h4',
  todo: 'M4 6l1.5 1.5L8 5M4 12l1.5 1.5L8 11M4 18l1.5 1.5L8 17M11 6.5h9M11 12.5h9M11 18.5h9',
  tool: 'M14.5 6.5a4 4 0 0 1 5-2.5l-2.5 2.5 1 2.5 2.5 0a4 4 0 0 1-5.5 3L8 19a2 2 0 0 1-3-3l7-7a4 4 0 0 1 2.5-2.5z',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13',
  upload: 'M12 15.5V4.5M7 9l5-5 5 5M5 20h14',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c.5-4 3.5-6 7.5-6s7 2 7.5 6',
  warning: 'M12 4.5l8.5 15h-17zM12 10.5v4M12 17h.01',
  'wifi-off': 'M4 4l16 16M2.5 9.5A14 14 0 0 1 7 6.7M10.5 5.6a14 14 0 0 1 11 3.9M6 13.3a9 9 0 0 1 4-2.3M14.8 11.4a9 9 0 0 1 3.2 1.9M9.5 16.7a4 4 0 0 1 5 0M12 20h.01',
} as const;

export type IconName = keyof typeof SHAPES;

interface IconProps {
  name: IconName;
  size?: number;
  /** Say what it means where no text does. */
  label?: string;
  class?: string;
}

export function Icon({ name, size = 18, label, class: extra }: IconProps): JSX.Element {
  const shown = label ? { role: 'img' as const, 'aria-label': label } : { 'aria-hidden': true as const };
  return (
    <svg class={extra ? `ui-icon ${extra}` : 'ui-icon'} width={size} height={size} viewBox="0 0 24 24" fill="none"
      stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" focusable="false" {...shown}>
      <path d={SHAPES[name]} />
    </svg>
  );
}
