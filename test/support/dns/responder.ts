// A responder on loopback, whose names and clock the test has in its hands.

import pino from 'pino';
import { DnsResponder, type DnsResponderOptions } from '../../../src/dns/responder.ts';
import type { Zone } from '../../../src/dns/zone.ts';
import type { NameContent } from '../../../src/dns/zone-names.ts';
import type { Schedule } from '../../../src/runtime/schedule.ts';

/** Zones of a gateway: its tunnels, what customers point their challenges at, and what they point their names at. */
export const zones: Zone[] = [
  { apex: 'tunnel.test', addresses: ['192.0.2.1', '2001:db8::1'] },
  { apex: 'acme.tunnel.test', addresses: ['192.0.2.2'], nameServers: ['ns1.tunnel.test', 'ns.dns.acme.tunnel.test'] },
  { apex: 'cname.eu.tunnel.test', addresses: ['192.0.2.3'], hostmaster: 'dns.admin@example.com' },
];

/** Milliseconds that pass when a test says so. */
export class TestClock {
  #now = 0;
  readonly #timers = new Map<symbol, { at: number; work: () => void }>();

  readonly now = () => this.#now;

  readonly schedule: Schedule = (ms, work) => {
    const key = Symbol();
    this.#timers.set(key, { at: this.#now + ms, work });
    return () => this.#timers.delete(key);
  };

  /** Whatever is due until then happens at once. */
  advance(ms: number): void {
    this.#now += ms;
    for (const [key, { at, work }] of this.#timers) {
      if (at > this.#now) continue;
      this.#timers.delete(key);
      work();
    }
  }
}

export interface TestResponder {
  responder: DnsResponder;
  port: number;
  clock: TestClock;
  /** What there is, by name; everything else is not there. */
  contents: Map<string, NameContent>;
  /** Names that the responder has asked for, in their order. */
  asked: string[];
  logged: { level: number; msg: string; err?: { message: string } }[];
  close(): Promise<void>;
}

export interface TestResponderOptions extends Partial<Pick<DnsResponderOptions, 'zones' | 'limits' | 'schedule'>> {
  host?: string;
  /** In place of what `contents` says. */
  find?(name: string): Promise<NameContent>;
}

/** Starts a responder for `zones` on a free port. What it counts in milliseconds does not go on unless the clock is advanced. */
export async function startResponder({
  host = '127.0.0.1',
  ...options
}: TestResponderOptions = {}): Promise<TestResponder> {
  const clock = new TestClock();
  const contents = new Map<string, NameContent>();
  const asked: string[] = [];
  const logged: TestResponder['logged'] = [];
  const find = options.find ?? (async (name) => contents.get(name) ?? { kind: 'none' });
  const responder = new DnsResponder({
    zones: options.zones ?? zones,
    names: {
      find(name) {
        asked.push(name);
        return find(name);
      },
    },
    log: pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    now: clock.now,
    schedule: options.schedule ?? clock.schedule,
    limits: { perSecond: 1e6, burst: 1e6, ...options.limits },
  });
  const { port } = await responder.listen(0, host);
  return { responder, port, clock, contents, asked, logged, close: () => responder.close() };
}
