// What a visitor sent and nobody has taken yet.

export const NOTHING: Buffer = Buffer.alloc(0);

export class InputBuffer {
  bytes = NOTHING;
  /** The first byte that was not taken. */
  at = 0;

  get isEmpty(): boolean {
    return this.at >= this.bytes.length;
  }

  /** How many bytes it has. */
  get left(): number {
    return this.bytes.length - this.at;
  }

  add(chunk: Buffer): void {
    this.bytes = this.isEmpty ? chunk : Buffer.concat([this.bytes.subarray(this.at), chunk]);
    this.at = 0;
  }

  /** All before the index was taken; the last one lets go of the memory. */
  take(end: number): void {
    this.at = end;
    if (this.isEmpty) this.clear();
  }

  clear(): void {
    this.bytes = NOTHING;
    this.at = 0;
  }
}
