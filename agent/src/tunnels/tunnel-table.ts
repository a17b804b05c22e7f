// The tunnels that the local API makes, lists and deletes, and that are made again by a restart.

import { randomUUID } from 'node:crypto';
import { DetailError } from '../detail-error.ts';
import type { GatewayClient, Protocol, TunnelHandle } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import type { AllowList } from '../settings/allow-list.ts';
import { claimAddress, findByUrlPart } from './address-match.ts';
import { type DefaultPolicy, type PolicyDocument, PolicyError } from './policy.ts';
import type { TunnelRequest } from './request.ts';
import type { SavedTunnel } from './state-format.ts';
import { type AgentTunnel, claimedAddress, matchesRequest, rememberResumption, type TunnelPhase } from './tunnel.ts';
import { waitForBind } from './wait-for-bind.ts';

export interface TunnelTableOptions {
  client: GatewayClient;
  allowList: AllowList;
  defaultPolicy: DefaultPolicy;
  /** The name of the agent's own API, which nothing else may have. */
  ownDomain: string | null;
  /** How long a new tunnel may wait for its first answer, in milliseconds. */
  answerTimeout: number;
  /** Brings the state file up to date. */
  save(): Promise<void>;
  log: Log;
}

export class TunnelTable {
  readonly #options: TunnelTableOptions;
  /** In the order in which they were made. */
  readonly #tunnels = new Set<AgentTunnel>();
  /** Who waits for an answer, and is to be told that the gateway refuses the session. */
  readonly #onRefused = new Set<() => void>();

  constructor(options: TunnelTableOptions) {
    this.#options = options;
  }

  /** Those that the API shows. */
  get all(): AgentTunnel[] {
    return [...this.#tunnels].filter(({ phase }) => phase !== 'opening');
  }

  /** Those that belong into the state file: a deleted one until its traffic has ended. */
  get saved(): SavedTunnel[] {
    const isWanted = ({ phase, handle }: AgentTunnel) => phase === 'kept' || handle.state !== 'closed';
    return this.all.filter(isWanted).map(({ saved }) => saved);
  }

  /** Opens what was kept, all at once: each waits for the gateway by itself, for as long as it takes. */
  restore(saved: readonly SavedTunnel[]): void {
    for (const tunnel of saved) {
      const policy = this.#currentPolicy(tunnel);
      this.#add({ ...tunnel, policy }, 'kept');
    }
  }

  /**
   * Opens a tunnel, and keeps it once the gateway has agreed and it is on the disk. The same request again gives the same
   * tunnel.
   * @throws {DetailError} when there is none then: nothing half done is left.
   */
  async create(request: TunnelRequest): Promise<AgentTunnel> {
    await this.#checkUpstream(request);
    for (let other = this.#inTheWay(request); other; other = this.#inTheWay(request)) {
      if (other.closed) await other.closed.catch(() => {});
      else if (other.phase !== 'closing' && matchesRequest(other.saved, request)) return other.opened.then(() => other);
      else throw new DetailError(409, `${other.saved.url || request.domain} is a tunnel of this agent already.`);
    }
    const tunnel = this.#add(this.#newTunnel(request), 'opening');
    tunnel.opened = this.#open(tunnel);
    await tunnel.opened;
    return tunnel;
  }

  /** The one tunnel that a part of its URL means. @throws {DetailError} 404 for none, 409 for several. */
  find(part: string): AgentTunnel {
    const found = findByUrlPart(
      part,
      this.all.map((tunnel) => ({ tunnel, url: tunnel.saved.url })),
    );
    const [first, second] = found;
    if (!first) throw new DetailError(404, 'Tunnel not found');
    if (!second) return first.tunnel;
    const urls = found.map(({ url }) => url).join(', ');
    throw new DetailError(409, `"${part}" is a part of several tunnels: ${urls}. Say which one.`);
  }

  /** Ends its traffic, then forgets it. A failure leaves it to be deleted once more. */
  async delete(tunnel: AgentTunnel): Promise<void> {
    tunnel.phase = 'closing';
    tunnel.closed ??= this.#close(tunnel).finally(() => {
      tunnel.closed = undefined;
    });
    await tunnel.closed;
  }

  /** Looks at what the client has changed: to be called whenever it says so. */
  update(): void {
    const { client, save, log } = this.#options;
    if (client.status.state === 'refused') for (const tell of this.#onRefused) tell();
    for (const tunnel of this.#tunnels) {
      if (tunnel.phase === 'kept') rememberResumption(tunnel, log);
    }
    save().catch((error: Error) => log('error', 'the state file cannot be written', { reason: error.message }));
  }

  #add(saved: SavedTunnel, phase: TunnelPhase): AgentTunnel {
    const { protocol, domain, forwardsTo, policy, resume } = saved;
    const handle = this.#options.client.open({
      protocol,
      domain,
      forwardsTo,
      policy: JSON.stringify(policy),
      metadata: '',
      resume,
    });
    handle.answered.catch(() => {}); // Told by its state.
    const tunnel = { phase, saved, handle, opened: Promise.resolve() };
    this.#tunnels.add(tunnel);
    return tunnel;
  }

  #newTunnel({ protocol, forwardsTo, domain, policy }: TunnelRequest): SavedTunnel {
    return {
      id: randomUUID(),
      url: '',
      previousUrl: null,
      protocol,
      forwardsTo,
      domain,
      policy: policy ?? this.#defaultPolicy(protocol),
      policySource: policy ? 'request' : 'default',
      createdAt: new Date().toISOString(),
      resume: null,
    };
  }

  async #open(tunnel: AgentTunnel): Promise<void> {
    const { save } = this.#options;
    try {
      await this.#answer(tunnel.handle);
      tunnel.phase = 'kept';
      rememberResumption(tunnel, this.#options.log);
      await save().catch((error: Error) => {
        throw new DetailError(500, `The state file cannot be written: ${error.message}. The tunnel was not started.`);
      });
    } catch (error) {
      tunnel.phase = 'opening';
      tunnel.closed = tunnel.handle.close().then(() => void this.#tunnels.delete(tunnel));
      // A gateway that did not answer may not answer the good-bye either: that is not waited for.
      if (!(error instanceof DetailError && error.status === 503)) await tunnel.closed;
      throw error;
    }
  }

  async #answer(handle: TunnelHandle): Promise<void> {
    const { client, answerTimeout } = this.#options;
    let tell = () => {};
    const refused = new Promise<void>((resolve) => {
      tell = resolve;
    });
    this.#onRefused.add(tell);
    if (client.status.state === 'refused') tell();
    try {
      await waitForBind(handle, { timeout: answerTimeout, refused, status: () => client.status });
    } finally {
      this.#onRefused.delete(tell);
    }
  }

  async #close(tunnel: AgentTunnel): Promise<void> {
    await tunnel.handle.close();
    await this.#options.save().catch((error: Error) => {
      throw new DetailError(500, `The state file cannot be written: ${error.message}. Delete the tunnel once more.`);
    });
    this.#tunnels.delete(tunnel);
    this.#options.log('info', 'tunnel deleted', { url: tunnel.saved.url });
  }

  /** The tunnel that is what is asked for, or has the address that is asked for. */
  #inTheWay(request: TunnelRequest): AgentTunnel | undefined {
    const { protocol, domain } = request;
    const address = domain === null ? null : claimAddress(protocol, domain);
    const { ownDomain } = this.#options;
    if (domain !== null && ownDomain !== null && claimAddress('http', domain) === claimAddress('http', ownDomain))
      throw new DetailError(409, `${domain} is the name of the agent's own API; tunnels need another.`);
    return [...this.#tunnels].find(
      ({ saved }) => matchesRequest(saved, request) || (address !== null && address === claimedAddress(saved)),
    );
  }

  async #checkUpstream({ upstream: { host } }: TunnelRequest): Promise<void> {
    const { allowList } = this.#options;
    const addresses = await allowList.addresses(host).catch((error: Error) => {
      throw new DetailError(400, `forwards_to names a host that cannot be resolved: ${error.message}.`);
    });
    if (addresses.length > 0) return;
    throw new DetailError(403, `This agent does not forward to ${host}; AGENT_FORWARDS_TO allows: ${allowList.text}.`);
  }

  #defaultPolicy(protocol: Protocol): PolicyDocument {
    try {
      return this.#options.defaultPolicy.current(protocol);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      throw new DetailError(500, `There is no default policy: ${error.message}. Send a policy, or set that right.`);
    }
  }

  /** What a tunnel that was kept gets now: who changes the default means those that have it, too. */
  #currentPolicy({ policy, policySource, protocol }: SavedTunnel): PolicyDocument {
    if (policySource === 'request') return policy;
    try {
      return this.#options.defaultPolicy.current(protocol);
    } catch {
      return policy;
    }
  }
}
