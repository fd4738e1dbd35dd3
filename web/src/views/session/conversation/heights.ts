// Where the rows of a long list are, most of which nobody has drawn yet. Pure.
//
// Rule 1: a row that was measured has its height for as long as its key is known, also when rows come before it.
// Rule 2: one change costs as much as there are rows behind it, and only when somebody asks.

export class Heights {
  private keys: readonly string[] = [];
  private index = new Map<string, number>();
  private estimates: number[] = [];
  private readonly measured = new Map<string, number>();
  private offsets = new Float64Array(1);
  private validTo = 0;

  /** The rows there are now, with a guess of each one's height. */
  setRows(keys: readonly string[], estimate: (index: number) => number): void {
    let same = 0;
    while (same < keys.length && same < this.keys.length && keys[same] === this.keys[same]) same += 1;
    if (same === keys.length && same === this.keys.length) return;
    for (let at = same; at < this.keys.length; at += 1) this.index.delete(this.keys[at]!);
    this.estimates.length = same;
    for (let at = same; at < keys.length; at += 1) {
      this.index.set(keys[at]!, at);
      this.estimates.push(estimate(at));
    }
    this.keys = keys;
    this.grow(keys.length + 1);
    this.validTo = Math.min(this.validTo, same);
  }

  get count(): number {
    return this.keys.length;
  }

  get total(): number {
    return this.offsetOf(this.keys.length);
  }

  indexOf(key: string): number | undefined {
    return this.index.get(key);
  }

  keyAt(at: number): string | undefined {
    return this.keys[at];
  }

  /** True where that is news. */
  measure(key: string, height: number): boolean {
    if (this.measured.get(key) === height) return false;
    const known = this.measured.get(key);
    this.measured.set(key, height);
    const at = this.index.get(key);
    if (at === undefined) return false;
    if (known === undefined && this.estimates[at] === height) return false;
    this.validTo = Math.min(this.validTo, at);
    return true;
  }

  heightOf(at: number): number {
    return this.measured.get(this.keys[at]!) ?? this.estimates[at]!;
  }

  /** Where a row begins; that of the end is the total. */
  offsetOf(at: number): number {
    for (let row = this.validTo; row < at; row += 1) this.offsets[row + 1] = this.offsets[row]! + this.heightOf(row);
    this.validTo = Math.max(this.validTo, at);
    return this.offsets[at]!;
  }

  /** The row at a distance from the top; the first or the last one beyond the ends. */
  rowAt(distance: number): number {
    this.offsetOf(this.keys.length);
    let low = 0;
    let high = this.keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offsets[middle]! <= distance) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  private grow(length: number): void {
    if (this.offsets.length >= length) return;
    const larger = new Float64Array(Math.max(length, this.offsets.length * 2));
    larger.set(this.offsets);
    this.offsets = larger;
  }
}
