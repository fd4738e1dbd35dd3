// Colours that a program chose without knowing our background: kept in hue, moved in lightness until they can be read.
//
// Rule: text has at least 4.5 to 1 against what is behind it (WCAG AA), in the light theme and in the dark one.

export type Rgb = readonly [red: number, green: number, blue: number];

/** The backgrounds that terminals are shown on; the same as --content-terminal in style/content/colours.css. */
export const TERMINAL_LIGHT: Rgb = [247, 248, 250];
export const TERMINAL_DARK: Rgb = [15, 16, 18];
const READABLE = 4.5;

/** A colour of the 256: 16 to 231 are a cube, 232 to 255 greys. The first 16 are the theme's own. */
export function colour256(index: number): Rgb {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = index - 16;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

/** The contrast of two colours, from 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/** The colour nearest to `wanted` that can be read on `behind`. */
export function readable(wanted: Rgb, behind: Rgb): Rgb {
  const towards: Rgb = luminance(behind) > 0.18 ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share < 1; share += 0.05) {
    const tried = mixed(wanted, towards, share);
    if (contrast(tried, behind) >= READABLE) return tried;
  }
  return towards;
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

function mixed(a: Rgb, b: Rgb, share: number): Rgb {
  const one = (index: 0 | 1 | 2): number => Math.round(a[index] + (b[index] - a[index]) * share);
  return [one(0), one(1), one(2)];
}

function luminance([red, green, blue]: Rgb): number {
  const linear = (value: number): number => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
