// The authoritative DNS responder: what is asked over UDP and TCP of the names of our zones (RFC 1035, RFC 2308, RFC 6891).

import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { describeFailure } from '../runtime/describe-failure.ts';
import { type Schedule, scheduleByTimer } from '../runtime/schedule.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { Answerer } from './answerer.ts';
import type { Query } from './codec/query.ts';
import { encodeResponse } from './codec/response.ts';
import { newDnsCounters, type Transport } from './counters.ts';
import { type LookupLimits, Lookups } from './lookups.ts';
import { ResponseRateLimiter, type ResponseRateLimits } from './rate-limit.ts';
import { type TcpLimits, TcpServer } from './tcp-server.ts';
import { UdpServer } from './udp-server.ts';
import { type Zone, ZoneTable } from './zone.ts';
import type { ZoneNames } from './zone-names.ts';

export interface DnsLimits extends LookupLimits, ResponseRateLimits, TcpLimits {}

/**
 * A resolver gives up after some 2 seconds. A network may be a public resolver that asks for many of our names; 200 answers of
 * 150 bytes in a second are no flood to anybody.
 */
const LIMITS: DnsLimits = {
  lookups: 256,
  waiting: 4096,
  lookupMs: 1000,
  perSecond: 200,
  burst: 400,
  networks: 50_000,
  connections: 1024,
  connectionsPerNetwork: 64,
};
/** How often another port is tried when any would do but one is free for TCP alone. */
const PORT_ATTEMPTS = 20;
/** Failures of the gateway's names are logged at most this often; milliseconds. */
const LOG_PAUSE_MS = 10_000;

export interface DnsResponderOptions {
  zones: readonly Zone[];
  names: ZoneNames;
  log: Logger;
  /** Milliseconds that never go back. */
  now(): number;
  limits?: Partial<DnsLimits>;
  schedule?: Schedule;
}

export class DnsResponder {
  readonly counters = newDnsCounters();
  readonly #answerer: Answerer;
  readonly #limiter: ResponseRateLimiter;
  readonly #limits: DnsLimits;
  readonly #options: DnsResponderOptions;
  readonly #schedule: Schedule;
  readonly #answering = new Set<Promise<Buffer>>();
  #servers: { udp: UdpServer; tcp: TcpServer }[] = [];
  #quietUntil = Number.NEGATIVE_INFINITY;

  /** @throws {RangeError} that says what is wrong with a zone. */
  constructor(options: DnsResponderOptions) {
    const { zones, names, limits, now, schedule = scheduleByTimer } = options;
    this.#options = options;
    this.#limits = { ...LIMITS, ...limits };
    this.#schedule = schedule;
    this.#answerer = new Answerer(new ZoneTable(zones), new Lookups(names, this.#limits, schedule));
    this.#limiter = new ResponseRateLimiter(this.#limits, now);
  }

  /** Connections over TCP that are open. */
  get connections(): number {
    return this.#servers.reduce((sum, { tcp }) => sum + tcp.size, 0);
  }

  /**
   * Opens UDP and TCP at the same port; may be called once for each address.
   * @param port 0 is any that is free for both.
   * @param host an address; `::` is all of both families. A machine with several needs a call for each of them: UDP answers of a
   * socket at all addresses leave from the one that the system chooses, which need not be the one that was asked.
   * @throws when either cannot be opened; the other is closed then.
   */
  async listen(port: number, host: string): Promise<AddressInfo> {
    for (let attempt = 1; ; attempt++) {
      const tcp = await this.#openTcp(port, host);
      const { address } = tcp;
      try {
        const udp = await this.#openUdp(address.port, host);
        this.#servers.push({ udp, tcp });
        return address;
      } catch (error) {
        await tcp.close(0);
        const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
        if (port !== 0 || !isTaken || attempt >= PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** Takes no more questions, and waits so many milliseconds until those that came are answered. */
  async close(drainMs = 0): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    for (const { udp } of servers) udp.stop();
    await Promise.all(servers.map(({ tcp }) => tcp.close(drainMs)).concat(waitAtMost(drainMs, this.#allAnswered())));
    await Promise.all(servers.map(({ udp }) => udp.close()));
  }

  #openTcp(port: number, host: string): Promise<TcpServer> {
    const { log } = this.#options;
    return TcpServer.open(port, host, {
      respond: this.#respond,
      limits: this.#limits,
      counters: this.counters,
      schedule: this.#schedule,
      log,
    });
  }

  #openUdp(port: number, host: string): Promise<UdpServer> {
    const { log } = this.#options;
    return UdpServer.open(port, host, {
      respond: this.#respond,
      limiter: this.#limiter,
      counters: this.counters,
      log,
    });
  }

  async #allAnswered(): Promise<void> {
    await Promise.all(this.#answering);
  }

  readonly #respond = (query: Query, transport: Transport, maxBytes: number): Promise<Buffer> => {
    const answer = this.#answer(query, transport, maxBytes);
    this.#answering.add(answer);
    void answer.then(() => this.#answering.delete(answer));
    return answer;
  };

  async #answer(query: Query, transport: Transport, maxBytes: number): Promise<Buffer> {
    const { code, response } = await this.#make(query, maxBytes);
    this.counters.answers[transport][code]++;
    if (response.isTruncated) this.counters.truncated++;
    return response.packet;
  }

  async #make(query: Query, maxBytes: number) {
    try {
      const reply = await this.#answerer.reply(query);
      return { code: reply.code, response: encodeResponse(query, reply, maxBytes) };
    } catch (error) {
      this.#report(error);
      return { code: 'SERVFAIL', response: encodeResponse(query, { code: 'SERVFAIL' }, maxBytes) } as const;
    }
  }

  #report(error: unknown): void {
    this.counters.failures++;
    const now = this.#options.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + LOG_PAUSE_MS;
    this.#options.log.warn({ err: describeFailure(error) }, 'The names of a DNS zone could not be looked up');
  }
}
