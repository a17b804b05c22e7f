// A connection within this process: two ends, of which one is served as the sockets of visitors are.

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** An end of a connection. It has what the code for visitors uses of a socket. */
export class InnerSocket extends Duplex {
  bytesRead = 0;
  bytesWritten = 0;
  readonly connecting = false;
  #other: InnerSocket | undefined;
  /** The other end has not taken what was written last. */
  #written: ((error?: Error) => void) | undefined;

  /** Both ends of a new connection. */
  static pair(): [client: InnerSocket, server: InnerSocket] {
    const client = new InnerSocket();
    const server = new InnerSocket();
    client.#other = server;
    server.#other = client;
    return [client, server];
  }

  /** As what visitors' connections are. Of its members there are those that serving HTTP uses. */
  get asSocket(): Socket {
    return this as unknown as Socket;
  }

  /** Nothing times out here: the client has a deadline of its own, and closes the connection then. */
  setTimeout(): this {
    return this;
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  override _read(): void {
    this.#other?.taken();
  }

  override _write(chunk: Buffer, _encoding: string, written: (error?: Error) => void): void {
    const other = this.#other;
    if (!other || other.destroyed) return void written(closedError());
    this.bytesWritten += chunk.length;
    other.bytesRead += chunk.length;
    this.#written = written;
    if (other.push(chunk)) this.taken();
  }

  override _final(done: () => void): void {
    if (this.#other?.destroyed === false) this.#other.push(null);
    done();
  }

  /** An end that is destroyed before it was ended breaks the other one; what was written before an end still arrives. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#other;
    done(error);
    this.taken(closedError());
    other?.taken(closedError());
    if (!this.writableFinished) process.nextTick(() => other?.destroy());
  }

  /** The other end wants more, or will take nothing any more. */
  protected taken(error?: Error): void {
    const written = this.#written;
    this.#written = undefined;
    written?.(error);
  }
}

const closedError = () => Object.assign(new Error('the connection is closed'), { code: 'EPIPE' });
