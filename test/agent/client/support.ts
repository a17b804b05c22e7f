// A client as a test wants it: short times, and everything that it says is kept.

import { type ClientTiming, createClient } from '../../../agent/src/client/index.ts';
import type {
  ClientOptions,
  GatewayClient,
  SessionIdentity,
  TunnelHandle,
  TunnelSpec,
} from '../../../agent/src/gateway-client.ts';

export interface TestClient {
  client: GatewayClient;
  identities: SessionIdentity[];
  logs: { level: string; text: string; details?: Record<string, unknown> }[];
  /** Resolves when it is so, now or after a change that the client tells of. */
  until(isSo: () => boolean): Promise<void>;
  /** Opens a tunnel to 127.0.0.1. */
  open(wanted?: Partial<TunnelSpec>): TunnelHandle;
}

/** Nothing waits for long. */
export const QUICK: Partial<ClientTiming> = {
  heartbeatInterval: 50,
  heartbeatTolerance: 300,
  legHeartbeatInterval: 50,
  legHeartbeatTolerance: 300,
  legRetry: 40,
  retryFirst: 10,
  retryMaxRecent: 20,
  retryMax: 20,
  refusedSession: 40,
  refusedTunnel: 20,
  refusedTunnelMax: 40,
  drain: 50,
};

/** Nothing breaks here: an agent that is kept waiting has only a busy machine to blame. Milliseconds. */
export const PATIENT: Partial<ClientTiming> = {
  heartbeatInterval: 10_000,
  heartbeatTolerance: 15_000,
  legHeartbeatInterval: 2000,
  legHeartbeatTolerance: 15_000,
};

type Place = { host: string; port: number; ca?: string | undefined };

export function newClient(
  { host, port, ca }: Place,
  options: Partial<ClientOptions> = {},
  timing: Partial<ClientTiming> = {},
): TestClient {
  const waiting = new Set<() => void>();
  const identities: SessionIdentity[] = [];
  const logs: TestClient['logs'] = [];
  const client = createClient(
    {
      authtoken: 'a token',
      gateways: [{ host, port }],
      legs: null,
      ca,
      identity: null,
      metadata: '',
      self: { deviceId: '', name: '', labels: {} },
      addresses: async () => ['127.0.0.1'],
      commands: { stop: () => null, restart: () => null, update: () => null },
      onChange: () => {
        for (const look of [...waiting]) look();
      },
      onIdentity: (identity) => identities.push(identity),
      log: (level, text, details) => logs.push({ level, text, details }),
      ...options,
    },
    { ...QUICK, ...timing },
  );
  return {
    client,
    identities,
    logs,
    until: (isSo) =>
      new Promise((resolve) => {
        const look = () => {
          if (!isSo()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    open: (wanted) =>
      client.open({
        protocol: 'http',
        domain: null,
        forwardsTo: '127.0.0.1:9',
        policy: null,
        metadata: '',
        resume: null,
        ...wanted,
      }),
  };
}
