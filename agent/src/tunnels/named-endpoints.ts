// The endpoints of the configuration file, which are open for as long as the agent runs.

import type { GatewayClient, Resumption, TunnelHandle } from '../gateway-client.ts';
import type { Log } from '../log.ts';
import { addressKey, hostOf } from './address-match.ts';
import type { NamedEndpoint } from './config-file.ts';
import type { DefaultPolicy } from './policy.ts';

/** The dependencies of the endpoints. */
export interface NamedEndpointsOptions {
  client: GatewayClient;
  defaultPolicy: DefaultPolicy;
  /** The resumptions of the run before, by name. */
  resumptions: Readonly<Record<string, Resumption>>;
  /** Prints a line to standard output. */
  print(line: string): void;
  log: Log;
}

/** An endpoint that is open, or refused. */
export interface OpenEndpoint {
  readonly name: string;
  readonly forwardsTo: string;
  readonly handle: TunnelHandle;
}

/** The open endpoints of the configuration file. */
export class NamedEndpoints {
  readonly all: readonly OpenEndpoint[];
  readonly #options: NamedEndpointsOptions;
  /** The URLs that were printed, by name. */
  readonly #printed = new Map<string, string>();

  /** Opens the endpoints. One whose policy cannot be used is logged and left out: it would be open to everybody. */
  constructor(endpoints: readonly NamedEndpoint[], options: NamedEndpointsOptions) {
    this.#options = options;
    this.all = endpoints.flatMap((endpoint) => this.#open(endpoint));
  }

  /** The resumptions to keep, by name. Those of endpoints that were not started this time are kept, too. */
  get resumptions(): Record<string, Resumption> {
    const current = this.all.flatMap(({ name, handle }) => (handle.resumption ? [[name, handle.resumption]] : []));
    return { ...this.#options.resumptions, ...Object.fromEntries(current) };
  }

  /** Handles a change of the client: prints each URL once it is served, and when it is another one. */
  update(): void {
    for (const { name, forwardsTo, handle } of this.all) {
      const { state, url } = handle;
      if (state !== 'active' || url === null || this.#printed.get(name) === url) continue;
      this.#printed.set(name, url);
      this.#options.print(`${name}: forwarding ${url} -> ${forwardsTo}`);
    }
  }

  #open({ name, policy, spec }: NamedEndpoint): OpenEndpoint[] {
    const { client, defaultPolicy, resumptions, log } = this.#options;
    try {
      const text = typeof policy === 'string' ? policy : JSON.stringify(policy ?? defaultPolicy.current(spec.protocol));
      const handle = client.open({ ...spec, name, policy: text, resume: usable(resumptions[name], spec) });
      return [{ name, forwardsTo: spec.forwardsTo, handle }];
    } catch (error) {
      log('error', 'an endpoint is not opened', { name, reason: (error as Error).message });
      return [];
    }
  }
}

/** The resumption, unless another address is asked for by now. */
export function usable(
  resumption: Resumption | undefined,
  { protocol, domain }: Pick<NamedEndpoint['spec'], 'protocol' | 'domain'>,
): Resumption | null {
  if (!resumption?.url.startsWith(`${protocol}:`)) return null;
  const isSame = domain === null || addressKey(protocol, hostOf(resumption.url)) === addressKey(protocol, domain);
  return isSame ? resumption : null;
}
