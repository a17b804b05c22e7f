// All connections of this process to addresses that tenants have named: where they may go, and how many there may be.

import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { writeHostPort } from '../../net/host-port.ts';
import type { ResolveHost } from '../../net/public-addresses.ts';
import { ReachableHosts } from '../../net/reachable-hosts.ts';
import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import { CLIENT_TLS } from '../../protocol/tls-suites.ts';
import type { OpenFailure } from '../../tunnel/endpoints/endpoint.ts';
import { newTunnelLoad, StreamSlots } from '../../tunnel/endpoints/stream-slots.ts';
import type { DialSettings } from '../settings.ts';
import { type DialTarget, dial } from './dial.ts';
import { sharedLookups } from './shared-lookups.ts';
import { SocketStream } from './socket-stream.ts';

/** How many connections there may be. */
export interface DialLimits {
  /** Of one account to one address; more wait for one to end, up to 10 s. */
  address: number;
  /** Of one account, with those that wait. */
  account: number;
  all: number;
}

const LIMITS: DialLimits = { address: 1024, account: 4096, all: 8192 };

/** The connections to one address, or of one account. */
interface Counted {
  slots: StreamSlots;
  load: ReturnType<typeof newTunnelLoad>;
}

export class AddressDialer {
  readonly #hosts: ReachableHosts;
  readonly #authorities: SecureContext | undefined;
  readonly #resolve: ResolveHost;
  readonly #addresses = new Map<string, Counted>();
  readonly #accounts = new Map<string, number>();
  readonly #streams = new Set<SocketStream>();
  readonly #limits: DialLimits;
  #sum = 0;

  /**
   * @param resolve who knows the addresses of names; the system when left out.
   * @throws when `backendCaFile` cannot be read, or does not hold certificates.
   */
  constructor({ backendHosts, backendCaFile }: DialSettings, resolve?: ResolveHost, limits = LIMITS) {
    this.#limits = limits;
    this.#hosts = new ReachableHosts(backendHosts);
    this.#authorities = backendCaFile === undefined ? undefined : authoritiesOf(backendCaFile);
    this.#resolve = sharedLookups(resolve);
  }

  /** How many connections there are, with those that are being opened. */
  get count(): number {
    return this.#sum;
  }

  /** Opens a connection for an account. It never rejects. */
  async open(accountId: string, target: DialTarget, events: StreamEvents): Promise<ByteStream | OpenFailure> {
    const held = this.#accounts.get(accountId) ?? 0;
    if (this.#sum >= this.#limits.all || held >= this.#limits.account) return 'overloaded';
    this.#sum++;
    this.#accounts.set(accountId, held + 1);
    const key = `${accountId} ${writeHostPort(target)}`;
    const address = this.#addresses.get(key) ?? newCounted(this.#limits.address);
    this.#addresses.set(key, address);
    const granted = address.slots.acquire(address.load);
    const isGranted = granted === true || (await granted);
    const release = () => {
      if (isGranted) address.slots.release();
      if (address.slots.isIdle) this.#addresses.delete(key);
      this.#release(accountId);
    };
    if (!isGranted) {
      release();
      return 'overloaded';
    }
    let opened: SocketStream | undefined;
    const isAllowed = this.#hosts.ruleOf(target.host);
    const means = { isAllowed, resolve: this.#resolve, authorities: this.#authorities };
    try {
      const failure = await dial(target, means, (socket) => {
        const stream = new SocketStream(socket, events);
        opened = stream;
        this.#streams.add(stream);
        socket.once('close', () => {
          this.#streams.delete(stream);
          release();
        });
      });
      return opened ?? failure ?? 'dialFailed';
    } finally {
      if (!opened) release();
    }
  }

  /** Cuts all connections. */
  close(): void {
    for (const stream of this.#streams) stream.reset();
  }

  #release(accountId: string): void {
    this.#sum--;
    const left = (this.#accounts.get(accountId) ?? 1) - 1;
    if (left > 0) this.#accounts.set(accountId, left);
    else this.#accounts.delete(accountId);
  }
}

function newCounted(streamsMax: number): Counted {
  const slots = new StreamSlots({ streamsMax, unservedMax: Number.POSITIVE_INFINITY, lingerMs: 0 });
  return { slots, load: newTunnelLoad() };
}

/** The trusted certificates, parsed once: parsing 150 of them for each connection takes longer than its handshake. */
function authoritiesOf(file: string): SecureContext {
  const pem = readFileSync(file, 'utf8');
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`BACKEND_CA_FILE has no certificates: ${file}`);
  return createSecureContext({ ca: [...rootCertificates, pem], ...CLIENT_TLS });
}
