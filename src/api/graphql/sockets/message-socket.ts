// A WebSocket as the protocol sees it: messages in and out. What its client does not take is not gathered without end.

import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { reportDefect } from '../../../protocol/defect.ts';
import { parseStrictly } from '../../http/request-body.ts';
import { SUBPROTOCOL } from '../../http/web-sockets.ts';
import { badMessage, type ConnectionEnd, FAILED, NOT_TEXT, UNREAD } from '../connection-end.ts';

/** While a client has not taken so many bytes of what it was sent, nothing more is read from it, and nothing more begun for it. */
const UNREAD_MAX = 1024 * 1024;
/** A client that gave no sign of life for so many pings in a row is gone. */
const MISSED_MAX = 2;

export class MessageSocket implements ProtocolSocket {
  readonly protocol = SUBPROTOCOL;
  readonly #webSocket: WebSocket;
  readonly #raw: { bytesWritten: number };
  readonly #timer: NodeJS.Timeout;
  #hasHeard = true;
  #missed = 0;
  #taken = 0;
  #end: ConnectionEnd | undefined;
  /** Wait until the client has read. */
  #waiting: (() => void)[] = [];

  /** @param pingMs how long the connection may be silent. */
  constructor(webSocket: WebSocket, pingMs: number) {
    this.#webSocket = webSocket;
    this.#raw = (webSocket as unknown as { _socket: { bytesWritten: number } })._socket;
    webSocket.on('error', () => {}); // It closes itself, and says so.
    webSocket.on('pong', () => {
      this.#hasHeard = true;
    });
    this.#timer = setInterval(() => this.#checkAlive(), pingMs).unref();
    webSocket.once('close', () => {
      clearInterval(this.#timer);
      this.#wakeAll();
    });
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** Settles when the client has taken it; what is sent after the close is nobody's. */
  send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (!this.isOpen) return resolve();
      this.#webSocket.send(text, () => {
        this.#afterWrite();
        resolve(); // Where it failed, the connection is closed.
      });
      if (this.#isBehind) this.#webSocket.pause();
    });
  }

  /** Resolves when the client has read most of what it was sent, or is gone. */
  async readable(): Promise<void> {
    while (this.isOpen && this.#isBehind) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  close(code = FAILED.code, reason = FAILED.reason): void {
    if (!this.isOpen) return;
    this.#end = { code, reason };
    this.#webSocket.resume(); // Else the answer of the other end is not seen.
    this.#webSocket.close(code, reason);
  }

  /** Calls back with each message, which is an object in JSON. */
  onMessage(listener: (text: string) => Promise<void>): void {
    this.#webSocket.on('message', (data: RawData, isBinary: boolean) => {
      this.#hasHeard = true;
      if (!this.isOpen) return;
      if (isBinary) return this.#closeWith(NOT_TEXT);
      const bytes = data as Buffer;
      try {
        parseStrictly(bytes);
      } catch (error) {
        return this.#closeWith(badMessage(error));
      }
      listener(bytes.toString()).catch((error) => {
        if (!this.isOpen) return;
        reportDefect(error);
        this.#closeWith(FAILED);
      });
    });
  }

  /** Calls back when the connection has ended, with why: as we said it, if we did. */
  onClose(listener: (code: number, reason: string) => void): void {
    this.#webSocket.once('close', (code, reason) =>
      listener(this.#end?.code ?? code, this.#end?.reason ?? reason.toString()),
    );
  }

  get #isBehind(): boolean {
    return this.#webSocket.bufferedAmount > UNREAD_MAX;
  }

  #closeWith({ code, reason }: ConnectionEnd): void {
    this.close(code, reason);
  }

  #afterWrite(): void {
    if (this.#isBehind) return;
    if (this.#webSocket.isPaused) this.#webSocket.resume();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Who reads little by little, and has much to read, is alive though its answers to pings are behind that. */
  #checkAlive(): void {
    const unread = this.#webSocket.bufferedAmount;
    const taken = this.#raw.bytesWritten - unread;
    const isAlive = this.#hasHeard || (unread > 0 && taken !== this.#taken);
    this.#missed = isAlive ? 0 : this.#missed + 1;
    this.#hasHeard = false;
    this.#taken = taken;
    if (this.#missed < MISSED_MAX) {
      if (unread === 0) this.#webSocket.ping();
    } else if (unread > 0) this.#closeWith(UNREAD);
    else this.#webSocket.terminate();
  }
}
