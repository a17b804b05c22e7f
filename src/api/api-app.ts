// What the API is made with.

import type { ModuleEnvironment } from '../http/module.ts';
import type { CompileQueue } from '../policy/compile/compile-queue.ts';
import type { Changes } from '../store/changes/changes.ts';
import type { PrismaClient } from '../store/database/client.ts';
import type { Keys } from '../store/keys/keys.ts';
import type { SessionCommands } from '../tunnel/control/session-commands.ts';
import type { AuditTrail } from './context.ts';
import type {
  AddressRestrictions,
  AgentEndpointInfo,
  AlertTester,
  ApiKeyUsage,
  DestinationTester,
  HeavyOperationQueue,
  NodeCaptures,
  NodeDirectory,
  RequestLogReader,
  SignInService,
  TrafficState,
} from './dependencies.ts';
import type { ApiSettings } from './settings.ts';

/** What the API needs of the rest of the gateway: also what modules need, for trial runs of policies. */
export interface ApiApp extends Pick<ModuleEnvironment, 'signingKey' | 'sendOutbound' | 'locate'> {
  config: ApiSettings;
  prisma: PrismaClient;
  keys: Keys;
  changes: Changes;
  /** Tells the agents of sessions what to do. */
  sessions: SessionCommands;
  /** Tries alert channels. */
  alertTester: AlertTester;
  /** Tries event destinations. */
  destinationTester: DestinationTester;
  /** What the public side of this node knows of its traffic. */
  traffic: TrafficState;
  /** Where traffic policies are compiled. */
  policies: CompileQueue;
  /** Where agents connect to this node. */
  agentEndpoint(): AgentEndpointInfo;
  /** The other nodes, and this one. */
  nodes: NodeDirectory;
  /** The requests of this node that people look at one by one. */
  nodeCaptures(): NodeCaptures;
  /** The last requests of every endpoint. */
  requestLog: RequestLogReader;
  /** Tells of what is written. */
  audit: AuditTrail;
  /** Notes which API keys are used. */
  apiKeyUsage: ApiKeyUsage;
  /** From which addresses accounts may be used. */
  restrictions: AddressRestrictions;
  /** Where users sign in. */
  signIn: SignInService;
  /** Runs operations that cost much. */
  heavyOperations: HeavyOperationQueue;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Aborted when the gateway is stopping: subscriptions end. */
  shutdownSignal: AbortSignal;
}
