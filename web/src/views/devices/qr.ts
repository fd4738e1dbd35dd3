/** A QR code as the path of a drawing: one square of one unit for each dark module, runs joined. */
import qrcode from 'qrcode-generator';

interface Drawn {
  /** Modules along an edge, with the quiet margin of four on both sides. */
  size: number;
  path: string;
}

const MARGIN = 4;

export function drawQr(text: string): Drawn {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const rows = Array.from({ length: count }, (_, row) => Array.from({ length: count }, (__, column) => code.isDark(row, column)));
  return { size: count + 2 * MARGIN, path: pathOf(rows) };
}

/** Each run of dark modules in a row as one rectangle. */
export function pathOf(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => runsOf(row).map(([from, length]) => `M${from + MARGIN} ${y + MARGIN}h${length}v1h-${length}z`)).join('');
}

function runsOf(row: readonly boolean[]): [number, number][] {
  const runs: [number, number][] = [];
  row.forEach((dark, x) => {
    const last = runs.at(-1);
    if (!dark) return;
    if (last && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
