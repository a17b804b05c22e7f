// What is under way while a gateway is upgraded: visitors, long streams, agents and API calls. Everything that fails is kept.

import { Agent, createServer, get, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { GatewayProcess } from '../gateway/process.ts';
import { visit } from '../visit.ts';

/** The time between two pieces of an event stream, in milliseconds. */
const EVENT_MS = 100;
const ANSWER = 'an answer';

/** A service with plain answers, a WebSocket-like echo at `/echo` and an event stream at `/events`. */
export async function startOrigin(): Promise<{ port: number; close(): void }> {
  const streams = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  const server: Server = createServer((request, response) => {
    if (request.url !== '/events') return void response.end(ANSWER);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.add(response);
    response.on('close', () => streams.delete(response));
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => socket.destroy());
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  const ticks = setInterval(() => {
    for (const stream of streams) stream.write('data: tick\n\n');
  }, EVENT_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      clearInterval(ticks);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export interface LoadOptions {
  gateway: GatewayProcess;
  /** The names that visitors ask for. */
  names: readonly string[];
  /** Those with long streams. */
  streamNames: readonly string[];
  /** Connections at once: one half is kept alive, the other is new for each request. */
  connections: number;
  webSockets: number;
  eventStreams: number;
  /** How long each connection waits between two requests, in milliseconds: 0 takes all of the machine. */
  pauseMs: number;
  /** The same between two calls of the API; 10 when left out. */
  apiPauseMs?: number;
}

/** A WebSocket that is silent for so many seconds has failed: a busy machine may be slow. */
const SILENT_BEATS = 5;

export class Load {
  /** What went wrong, by what it was, and how often. */
  readonly failures: Record<string, number> = {};
  visits = 0;
  /** The longest visit to each name, in milliseconds. */
  readonly longestMs = new Map<string, number>();
  apiCalls = 0;
  /** The longest wait of an API call, in milliseconds. */
  apiMaxMs = 0;
  readonly #options: LoadOptions;
  readonly #ends: (() => unknown)[] = [];
  readonly #loops: Promise<void>[] = [];
  #isEnding = false;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Resolves when all long streams are open. */
  async start(): Promise<void> {
    const { connections, webSockets, eventStreams, streamNames } = this.#options;
    const nameOf = (index: number) => streamNames[index % streamNames.length] as string;
    await Promise.all([
      ...Array.from({ length: webSockets }, (_, index) => this.#echo(nameOf(index))),
      ...Array.from({ length: eventStreams }, (_, index) => this.#follow(nameOf(index))),
    ]);
    for (let index = 0; index < connections; index++) this.#loops.push(this.#visitAll(index));
    this.#loops.push(this.#callApi());
  }

  /** Waits for so many more visits. */
  async more(visits: number): Promise<void> {
    const until = this.visits + visits;
    while (this.visits < until) await pause(5);
  }

  /** Ends all. @returns the failures. */
  async end(): Promise<Record<string, number>> {
    this.#isEnding = true;
    for (const end of this.#ends) end();
    await Promise.all(this.#loops);
    return this.failures;
  }

  #fail(what: string): void {
    if (!this.#isEnding) this.failures[what] = (this.failures[what] ?? 0) + 1;
  }

  async #visitAll(index: number): Promise<void> {
    const { gateway, names, pauseMs } = this.#options;
    const isKept = index % 2 === 0;
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#ends.push(() => kept.destroy());
    for (let at = index; !this.#isEnding; at++) {
      const name = names[at % names.length] as string;
      const one = isKept ? kept : new Agent({ keepAlive: false });
      const headers: Record<string, string> = isKept ? {} : { connection: 'close' };
      const begun = performance.now();
      try {
        const { status, body } = await visit(`http://${name}/`, gateway.http, { agent: one, headers });
        if (status !== 200 || body !== ANSWER) this.#fail(`visit: ${status} ${body.slice(0, 60)}`);
      } catch (error) {
        this.#fail(`visit on a ${isKept ? 'kept' : 'new'} connection: ${(error as Error).message}`);
      }
      this.longestMs.set(name, Math.max(this.longestMs.get(name) ?? 0, performance.now() - begun));
      this.visits++;
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  /** A connection that has changed to another protocol, on which each byte comes back. */
  #echo(name: string): Promise<void> {
    const [host = '', port] = this.#options.gateway.http.split(':');
    const socket = connect({ host, port: Number(port) });
    let isOpen = false;
    /** Beats that were not answered yet. */
    let waiting = 0;
    const beat = setInterval(() => {
      if (!isOpen) return;
      if (waiting === SILENT_BEATS) this.#fail(`a WebSocket does not answer for ${SILENT_BEATS} s`);
      waiting++;
      socket.write('x');
    }, 1000);
    this.#ends.push(() => {
      clearInterval(beat);
      socket.destroy();
    });
    return new Promise((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => this.#fail('a WebSocket was cut'));
      socket.on('data', (chunk) => {
        waiting = 0;
        if (isOpen) return;
        if (!chunk.toString('latin1').startsWith('HTTP/1.1 101')) return reject(new Error(chunk.toString('latin1')));
        isOpen = true;
        resolve();
      });
      socket.write(`GET /echo HTTP/1.1\r\nHost: ${name}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    });
  }

  #follow(name: string): Promise<void> {
    const [host = '', port] = this.#options.gateway.http.split(':');
    return new Promise((resolve, reject) => {
      const request = get({ host, port, path: '/events', headers: { host: name }, agent: false }, (response) => {
        response.once('data', () => resolve());
        response.on('data', () => {});
        response.on('error', () => {});
        response.on('close', () => this.#fail('an event stream was cut'));
      });
      request.on('error', reject);
      this.#ends.push(() => request.destroy());
    });
  }

  async #callApi(): Promise<void> {
    const { apiPauseMs = 10 } = this.#options;
    while (!this.#isEnding) {
      const startedAt = performance.now();
      const answer = await this.#options.gateway
        .call('GET', '/tunnel_sessions', undefined, { headers: { connection: 'close' } })
        .catch((error: Error) => error);
      this.apiMaxMs = Math.max(this.apiMaxMs, performance.now() - startedAt);
      this.apiCalls++;
      if (answer instanceof Error) this.#fail(`API: ${answer.message}`);
      else if (answer.status !== 200) this.#fail(`API: ${answer.status}`);
      await pause(apiPauseMs);
    }
  }
}
