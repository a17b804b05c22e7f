import { EventEmitter } from 'node:events';

/** A connection to which the test hands each read, without a network. */
export class Wire extends EventEmitter {
  readonly written: Buffer[] = [];
  /** How much the network has not taken yet. */
  writableLength = 0;
  destroyed = false;
  setNoDelay() {}
  write(bytes: Buffer): boolean {
    this.written.push(bytes);
    return true;
  }
  destroy() {
    this.destroyed = true;
  }
  destroySoon() {
    this.destroyed = true;
  }
}
