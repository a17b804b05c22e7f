// Questions over UDP. Each may be forged, so that what is sent for it is small and, for each network, limited.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { describeFailure } from '../runtime/describe-failure.ts';
import { clientNetwork } from './client-network.ts';
import { type Query, readQuery } from './codec/query.ts';
import { encodeResponse, UDP_BYTES_MAX } from './codec/response.ts';
import type { DnsCounters, Transport } from './counters.ts';
import type { ResponseRateLimiter } from './rate-limit.ts';

/** What every client takes (RFC 1035 section 2.3.4). */
const PLAIN_BYTES_MAX = 512;
/** An answer is below so many times its question: flooding somebody with our answers is not worth it. */
const AMPLIFICATION = 3;
/** Answers that wait in the process because the system takes no more; bytes. */
const SEND_QUEUE_BYTES_MAX = 1_048_576;

/** Makes the answer to a question. It never rejects. */
export type Respond = (query: Query, transport: Transport, maxBytes: number) => Promise<Buffer>;

export interface UdpServerOptions {
  respond: Respond;
  limiter: ResponseRateLimiter;
  counters: DnsCounters;
  log: Logger;
}

export class UdpServer {
  readonly #options: UdpServerOptions;
  readonly #socket: Socket;
  #isClosed = false;

  private constructor(options: UdpServerOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket.on('message', (packet, from) => this.#receive(packet, from));
    // What a datagram of somebody causes does not concern the others.
    socket.on('error', (error) =>
      options.log.warn({ err: describeFailure(error) }, 'The DNS socket (UDP) had an error'),
    );
  }

  /** @param host `::` is all addresses of both families. @throws when the port cannot be opened. */
  static async open(port: number, host: string, options: UdpServerOptions): Promise<UdpServer> {
    const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', lookup: takeAddress });
    // As addresses are not looked up, it listens, or fails, within the call.
    const listening = once(socket, 'listening');
    try {
      socket.bind({ port, address: host, exclusive: true });
      await listening;
    } catch (error) {
      socket.close();
      throw error;
    }
    return new UdpServer(options, socket);
  }

  /** Takes no more questions; answers to earlier ones are still sent. */
  stop(): void {
    this.#socket.removeAllListeners('message');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  #receive(packet: Buffer, from: RemoteInfo): void {
    const { counters, limiter, respond } = this.#options;
    const query = readQuery(packet);
    if (!query || from.port === 0) return void counters.ignored++;
    const verdict = limiter.take(clientNetwork(from.address));
    if (verdict === 'answer') {
      void respond(query, 'udp', answerBytesMax(query, packet)).then((answer) => this.#send(answer, from));
    } else if (verdict === 'slip' && query.opcode === 0 && !query.isMalformed) {
      counters.slipped++;
      this.#send(encodeResponse(query, { code: 'NOERROR', isTruncated: true }, packet.length).packet, from);
    } else {
      counters.dropped++;
    }
  }

  #send(answer: Buffer, { address, port }: RemoteInfo): void {
    const { counters } = this.#options;
    if (this.#isClosed || this.#socket.getSendQueueSize() > SEND_QUEUE_BYTES_MAX) return void counters.unsent++;
    this.#socket.send(answer, port, address, (error) => {
      if (error) counters.unsent++;
    });
  }
}

/** How long the answer may be, by what the client takes, what crosses the Internet, and the length of the question. */
function answerBytesMax({ edns }: Query, packet: Buffer): number {
  const asked = edns ? Math.min(Math.max(edns.udpBytes, PLAIN_BYTES_MAX), UDP_BYTES_MAX) : PLAIN_BYTES_MAX;
  return Math.min(asked, AMPLIFICATION * packet.length - 1);
}

/** Where answers go is an address already. The system's look-up would take a turn of the event loop for each. */
function takeAddress(
  address: string,
  _: unknown,
  found: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  found(null, address, isIPv6(address) ? 6 : 4);
}
