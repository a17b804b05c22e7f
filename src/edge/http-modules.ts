// From settings to modules, in the order in which they act.

import type { CircuitBreaker } from '../http/circuit-breaker.ts';
import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner } from '../http/module.ts';
import type { ModuleDescriptor, ModulesSettings, TlsEffect } from './modules/descriptor.ts';
import { PHASES } from './modules/descriptor.ts';
import { ModuleCache } from './modules/module-cache.ts';
import { ownPathsEnd } from './pipeline/rules/own-paths.ts';

export interface CreatedModules {
  /** What requests pass, the outermost first. */
  modules: HttpModule[];
  /** What connections have to pass before the first request. */
  connection: ConnectionModule[];
  breaker: CircuitBreaker | undefined;
  convertsWebsockets: boolean;
  /** Undefined where no module says anything of TLS. */
  tls: TlsEffect | undefined;
}

/** Loads the code of the modules that are enabled. It is to be awaited before `createModules`. */
export async function loadModules(descriptors: readonly ModuleDescriptor[], settings: ModulesSettings): Promise<void> {
  for (const { key, load } of descriptors) if (settings[key]?.enabled) await load?.();
}

/**
 * Makes the modules of a route, of a TLS edge or of a tunnel; those that are disabled are left out.
 * @param cache where those come from that remember their visitors.
 * @throws {SettingsError} or what the descriptor of a module throws, for settings that are not right.
 */
export function createModules(
  descriptors: readonly ModuleDescriptor[],
  settings: ModulesSettings,
  owner: ModuleOwner,
  environment: ModuleEnvironment,
  cache = new ModuleCache(),
): CreatedModules {
  const created: CreatedModules = {
    modules: [],
    connection: [],
    breaker: undefined,
    convertsWebsockets: false,
    tls: undefined,
  };
  for (const { key, isStateful, create } of inOrder(descriptors)) {
    const own = settings[key];
    if (!own?.enabled) continue;
    const make = () => create(own, owner, environment);
    const { http, connection, convertsWebsockets, breaker, tls } = isStateful ? cache.keep(key, own, make) : make();
    if (http) created.modules.push(http);
    if (connection) created.connection.push(connection);
    created.convertsWebsockets ||= convertsWebsockets === true;
    created.breaker ??= breaker;
    if (tls) created.tls = { ...created.tls, ...tls };
  }
  const lastSignIn = created.modules.findLastIndex(({ signsIn }) => signsIn);
  if (lastSignIn >= 0) created.modules.splice(lastSignIn + 1, 0, ownPathsEnd);
  return created;
}

function inOrder(descriptors: readonly ModuleDescriptor[]): ModuleDescriptor[] {
  const place = ({ phase }: ModuleDescriptor) => PHASES.indexOf(phase);
  return descriptors.toSorted((one, other) => place(one) - place(other));
}
