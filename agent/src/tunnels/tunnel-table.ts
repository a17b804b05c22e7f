// The tunnels of the local API, which are restored after a restart.

import { randomUUID } from 'node:crypto';
import { DetailError } from '../detail-error.ts';
import type { GatewayClient, Protocol, TunnelHandle } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import type { AllowList } from '../settings/allow-list.ts';
import { addressKey, findByUrlPart } from './address-match.ts';
import { type DefaultPolicy, type PolicyDocument, PolicyError } from './policy.ts';
import type { TunnelRequest } from './request.ts';
import type { SavedTunnel } from './state-format.ts';
import { type AgentTunnel, matchesRequest, rememberResumption, savedAddressKey, type TunnelPhase } from './tunnel.ts';
import { waitForBind } from './wait-for-bind.ts';

/** The dependencies of the table. */
export interface TunnelTableOptions {
  client: GatewayClient;
  allowList: AllowList;
  defaultPolicy: DefaultPolicy;
  /** The domain of the agent's own API, which no tunnel may have. */
  ownDomain: string | null;
  /** How long a new tunnel waits for its first response; milliseconds. */
  answerTimeout: number;
  /** Writes the state file. */
  save(): Promise<void>;
  log: Log;
}

/** All tunnels of the local API. */
export class TunnelTable {
  readonly #options: TunnelTableOptions;
  /** The tunnels in the order of their creation. */
  readonly #tunnels = new Set<AgentTunnel>();
  /** The callbacks of creations that wait for a response, for the case that the gateway refuses the session. */
  readonly #sessionRefusedListeners = new Set<() => void>();

  constructor(options: TunnelTableOptions) {
    this.#options = options;
  }

  /** The tunnels that the API shows. */
  get all(): AgentTunnel[] {
    return [...this.#tunnels].filter(({ phase }) => phase !== 'opening');
  }

  /** The tunnels of the state file. A deleted one stays in it until its traffic has ended. */
  get saved(): SavedTunnel[] {
    const isSaved = ({ phase, handle }: AgentTunnel) => phase === 'kept' || handle.state !== 'closed';
    return this.all.filter(isSaved).map(({ saved }) => saved);
  }

  /** Opens the tunnels of the state file. Each waits for the gateway independently and without a timeout. */
  restore(saved: readonly SavedTunnel[]): void {
    for (const tunnel of saved) {
      const policy = this.#currentPolicy(tunnel);
      this.#add({ ...tunnel, policy }, 'kept');
    }
  }

  /**
   * Creates a tunnel. Resolves when the gateway has accepted it and the state is on the disk. A repeated request returns the
   * same tunnel.
   * @throws {DetailError} when the creation fails; no partial tunnel is left then.
   */
  async create(request: TunnelRequest): Promise<AgentTunnel> {
    await this.#checkUpstream(request);
    for (let other = this.#findConflict(request); other; other = this.#findConflict(request)) {
      if (other.closed) await other.closed.catch(() => {});
      else if (other.phase !== 'closing' && matchesRequest(other.saved, request)) return other.opened.then(() => other);
      else throw new DetailError(409, `${other.saved.url || request.domain} is a tunnel of this agent already.`);
    }
    const tunnel = this.#add(this.#newTunnel(request), 'opening');
    tunnel.opened = this.#open(tunnel);
    await tunnel.opened;
    return tunnel;
  }

  /** Finds the tunnel by a part of its URL. @throws {DetailError} 404 for none, 409 for several. */
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

  /** Closes a tunnel and deletes it from the state file. After a failure the caller may delete it again. */
  async delete(tunnel: AgentTunnel): Promise<void> {
    tunnel.phase = 'closing';
    tunnel.closed ??= this.#close(tunnel).finally(() => {
      tunnel.closed = undefined;
    });
    await tunnel.closed;
  }

  /** Handles a change of the client. */
  update(): void {
    const { client, save, log } = this.#options;
    if (client.status.state === 'refused') for (const notify of this.#sessionRefusedListeners) notify();
    for (const tunnel of this.#tunnels) {
      if (tunnel.phase === 'kept') rememberResumption(tunnel, log);
    }
    save().catch(() => {}); // It is told where it is tried again.
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
    handle.answered.catch(() => {}); // The state of the handle has the failure.
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
      await this.#waitForResponse(tunnel.handle);
      tunnel.phase = 'kept';
      rememberResumption(tunnel, this.#options.log);
      await save().catch((error: Error) => {
        throw new DetailError(500, `The state file cannot be written: ${error.message}. The tunnel was not started.`);
      });
    } catch (error) {
      tunnel.phase = 'opening';
      tunnel.closed = tunnel.handle.close().then(() => void this.#tunnels.delete(tunnel));
      // A gateway that did not answer the bind may not answer the unbind, either, so that is not awaited.
      if (!(error instanceof DetailError && error.status === 503)) await tunnel.closed;
      throw error;
    }
  }

  async #waitForResponse(handle: TunnelHandle): Promise<void> {
    const { client, answerTimeout } = this.#options;
    let notify = () => {};
    const refused = new Promise<void>((resolve) => {
      notify = resolve;
    });
    this.#sessionRefusedListeners.add(notify);
    if (client.status.state === 'refused') notify();
    try {
      await waitForBind(handle, { timeout: answerTimeout, refused, status: () => client.status });
    } finally {
      this.#sessionRefusedListeners.delete(notify);
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

  /** The tunnel that matches the request, or has the requested address. */
  #findConflict(request: TunnelRequest): AgentTunnel | undefined {
    const { protocol, domain } = request;
    const key = domain === null ? null : addressKey(protocol, domain);
    const { ownDomain } = this.#options;
    if (domain !== null && ownDomain !== null && addressKey('http', domain) === addressKey('http', ownDomain))
      throw new DetailError(409, `${domain} is the name of the agent's own API; tunnels need another.`);
    return [...this.#tunnels].find(
      ({ saved }) => matchesRequest(saved, request) || (key !== null && key === savedAddressKey(saved)),
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

  /** The policy of a restored tunnel: one with the default policy gets the current default. */
  #currentPolicy({ policy, policySource, protocol }: SavedTunnel): PolicyDocument {
    if (policySource === 'request') return policy;
    try {
      return this.#options.defaultPolicy.current(protocol);
    } catch {
      return policy;
    }
  }
}
