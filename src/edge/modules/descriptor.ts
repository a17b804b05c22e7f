// What the data plane knows of a kind of module: one descriptor for each, in the file of the module. Its shape in GraphQL
// and REST is in api/modules, whose index lists all of them.

import type { CircuitBreaker } from '../../http/circuit-breaker.ts';
import type { ConnectionModule, HttpModule, ModuleEnvironment, ModuleOwner, TlsParameters } from '../../http/module.ts';
import type { ReportedDecision } from '../../http/module-report.ts';
import type { Fields } from '../../protocol/messages/fields.ts';

/** The settings of any module. With `enabled` false the module acts as if it were not set. */
export interface ModuleSettings {
  enabled: boolean;
}

/** The settings of the modules of an edge, a route or a tunnel, by the keys of their descriptors. */
export type ModulesSettings = Readonly<Record<string, ModuleSettings | undefined>>;

/**
 * Where a module acts: requests pass the phases in this order, responses in reverse. Who may come in is settled before
 * anything else is done, a policy has the last word on responses, and what guards the upstream sees what it alone did.
 */
export const PHASES = [
  'tls',
  'encoding',
  'address',
  'client',
  'user',
  'signature',
  'policy',
  'response fields',
  'request fields',
  'upstream',
] as const;

/** What a module does to the traffic of its route, edge or tunnel. */
export interface ModuleEffect {
  http?: HttpModule | undefined;
  /** What connections pass before the first request. */
  connection?: ConnectionModule | undefined;
  /** Whether the messages of a WebSocket are the bytes of a TCP connection to the upstream. */
  convertsWebsockets?: boolean;
  /** What the API tells the state of. */
  breaker?: CircuitBreaker;
  /** How the TLS of visitors is spoken. */
  tls?: TlsEffect;
}

/** What a module wants of the TLS of visitors. What no module says is as everywhere. */
export interface TlsEffect extends Partial<Pick<TlsParameters, 'minVersion' | 'clientAuthorities'>> {
  terminateAt?: 'edge' | 'upstream';
}

/** What the row refers to that a module belongs to. */
export interface ModuleReferences {
  /** The IP policies, by their rules. */
  ipPolicies: readonly { allow: readonly string[]; deny: readonly string[] }[];
  /** The certificate authorities. */
  authorities: readonly { id: string; pem: string }[];
}

/** How an agent asks for a module: an option of its bind. */
export interface BindOption<Settings> {
  /** The names that the option has in SDKs of several ages, of which the first one that is there counts; or those that make one module. */
  readonly names: readonly string[];
  /** Which tunnels may have it: those of HTTP, or those that speak TLS with visitors. Left out: all. */
  readonly scope?: 'http' | 'tls';
  /** Whether the option asks for the module; left out, it does whenever it is there. */
  isAsked?(options: Fields, name: string): boolean;
  /**
   * @param name the one that is there.
   * @throws {MessageError} for what is of another type, {SettingsError} or {AgentError} for what is not right.
   */
  read(options: Fields, name: string): Settings;
}

/** @typeParam Stored the settings as a row has them: complete but for references, secrets sealed. */
export interface ModuleDescriptor<
  Settings extends ModuleSettings = ModuleSettings,
  Stored extends ModuleSettings = Settings,
> {
  /** The key of its settings in the rows of edges and routes, which is its field in GraphQL, in camelCase. */
  readonly key: string;
  readonly phase: (typeof PHASES)[number];
  /** Whether it remembers visitors: it is kept then while other modules of its route change. */
  readonly isStateful?: boolean;
  /** Whether `create` compiles what may take long: it is done ahead then, in pieces, while other traffic goes on. */
  readonly isCompiled?: boolean;
  /** Loads code that `create` needs and that a gateway without this module need not have. It is awaited before `create`. */
  load?(): Promise<void>;
  /** @throws {SettingsError} or what the policy compiler throws, for settings that are not right. */
  create(settings: Settings, owner: ModuleOwner, environment: ModuleEnvironment): ModuleEffect;
  /**
   * Replaces each secret in the settings: to seal it, to open it, or to seal it anew.
   * @param change `part` names the secret within the module. It is bound to that: never rename one.
   */
  mapSecrets?(stored: Stored, change: (secret: string, part: string) => string): Stored;
  /** What it adds to the reports of requests and connections, and so to traffic events. Left out: nothing. */
  readonly report?: ReportedDecision;
  /** How an agent asks for it; left out where none can. */
  readonly bindOption?: BindOption<Settings>;
  /** The settings that act on traffic. Left out: they are as they are stored. @param stored with its secrets in clear. */
  resolve?(stored: Stored, references: ModuleReferences): Settings;
}
