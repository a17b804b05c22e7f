// A worker: a process that carries visitors and agents, and asks the control process for all else. It loads neither GraphQL nor the
// database's client.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { LocalSockets } from '../../cluster/local-sockets.ts';
import { sessionCommandsByLink } from '../../cluster/session-commands-by-link.ts';
import type { Config } from '../../config/config.ts';
import { ControlClient } from '../../control/control-client.ts';
import { RemoteRegistrar } from '../../control/remote-registrar.ts';
import { RemoteSources } from '../../control/remote-sources.ts';
import { EventBuffer } from '../../events/traffic/buffer.ts';
import { trafficCounters } from '../../events/traffic/counters.ts';
import { trafficObjects } from '../../events/traffic/gateway-objects.ts';
import { TrafficSubscribers } from '../../events/traffic/subscribers.ts';
import { TrafficEvents } from '../../events/traffic/traffic-events.ts';
import { trafficEventMetrics } from '../../monitoring/traffic-event-metrics.ts';
import type { ConnectionCounts } from '../../net/connection-counts.ts';
import { hostsOfPolicies } from '../../net/reachable-hosts.ts';
import { CompileQueue } from '../../policy/compile/compile-queue.ts';
import { SigningKeys } from '../../policy/webhooks/signing-keys.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { waitAtMost } from '../../runtime/wait-at-most.ts';
import { newId } from '../../store/ids.ts';
import { startDataPlane } from '../data-plane.ts';
import type { DataPlane } from '../data-plane-types.ts';
import type { GatewayOptions } from '../gateway-options.ts';
import { type Lifecycle, startAll } from '../lifecycle.ts';
import { nodeDirectory } from '../node-directory.ts';
import { startGeoDatabases } from '../policies/geo.ts';
import { startOutbound } from '../policies/outbound.ts';
import { trafficState } from '../traffic-state.ts';

export interface Worker {
  /** `node_…` */
  nodeId: string;
  dataPlane: DataPlane;
  /**
   * Stops: takes no new visitors and agents, and finishes what is under way within so many milliseconds. It never rejects.
   * @param isReplaced whether other workers go on, to which agents can move.
   */
  close(drainMs: number, isReplaced: boolean): Promise<void>;
  /** Ends the sessions of agents at once, even while it stops. Visitors of other workers wait until the agents are back. */
  cut(): Promise<void>;
}

export interface WorkerOptions extends Pick<GatewayOptions, 'log' | 'signerHosts' | 'now'> {
  registry: Registry;
  /** The directory of the unix sockets. */
  directory: string;
  /** The connections of the processes with which this one shares the listeners; left out, it is alone. */
  counts?: ConnectionCounts | undefined;
  /** Called when the control process has stopped this worker. */
  onStopped?(): void;
}

/** Starts a worker, as soon as there is a control process. @throws as `startDataPlane` does. */
export async function startWorker(config: Config, options: WorkerOptions): Promise<Worker> {
  return startAll(options.log, (parts) => startParts(parts, config, options));
}

async function startParts(parts: Lifecycle, config: Config, options: WorkerOptions): Promise<Worker> {
  const { log, registry, directory, counts, signerHosts, now = Date.now, onStopped = () => {} } = options;
  const nodeId = newId('node');
  /** Where other nodes reach this one. */
  let address = '';
  let isServing = false;
  /** Whether other workers take the place of this one. */
  let isReplaced = false;
  const registrar = new RemoteRegistrar(nodeId, () => client);
  const sources = new RemoteSources(() => client);
  const client = new ControlClient({
    sockets: new LocalSockets(directory),
    state: () => registrar.state,
    own: {
      ...registrar.told,
      ...sources.told,
      replay: (captured, edits) => dataPlane.replays.send(captured, edits),
      visitEdge: (visit) => dataPlane.visitEdge(visit),
      stop(drainMs) {
        void parts.stop(drainMs).then(onStopped);
        // It may drain already, and for longer.
        setTimeout(onStopped, drainMs + STOP_GRACE_MS).unref();
      },
    },
    onAttachedAgain({ wasDeleted }) {
      log.info('connected to the control process again');
      if (isServing) void client.call('serving', dataPlane.addresses).catch(() => undefined);
      void client.call('announceAddress', address).catch(() => undefined); // It is lost again, and this is called again.
      registrar.attachedAgain(wasDeleted);
      sources.attachedAgain();
    },
    onFailure: (error) => log.error({ err: describeFailure(error) }, 'the control process does not take this worker'),
  });
  const { tokenKey } = await client.open();
  await parts.start({
    name: 'connection to the control process',
    start: () => client,
    async stop(client) {
      await client.callWithin(RELEASE_MS, 'release').catch(() => undefined); // The node's lease ends then by itself.
      client.close();
    },
  });

  const reporter = await startReporter(parts, config, { sources, log, registry, now });
  const reach = { hosts: hostsOfPolicies(config), standIn: signerHosts };
  const signingKeys = new SigningKeys(reach, { now: () => performance.now(), time: now });
  const sendOutbound = await startOutbound(parts, reach);
  const locate = await startGeoDatabases(parts, config, log);
  const dataPlane = await parts.start({
    name: 'data plane',
    start: () =>
      startDataPlane(config, {
        registrar,
        async openEdgeConfigSource(ports) {
          await sources.openEdges(ports);
          return sources.edges;
        },
        captureSource: sources.captures,
        secretSource: sources.secrets,
        restrictionSource: sources.restrictions,
        reporter,
        // The control process that stores them may be away.
        statistics: { store: sources.figures, writer: newId('node'), now, closeMs: 200 },
        newOperationId: () => newId('op'),
        newCaptureId: () => newId('cap'),
        tokenKey,
        log,
        registry,
        policies: new CompileQueue(),
        sharesListeners: true,
        counts,
        isReplaced: () => isReplaced,
        visitorSessions: sources.visitorSessions,
        signingKey: signingKeys.find.bind(signingKeys),
        sendOutbound,
        locate,
        member: {
          nodeId,
          issueIdentity: () => client.call('issueIdentity'),
          announceAddress(own) {
            address = own;
            return client.call('announceAddress', own);
          },
          ...sources.nodes,
        },
      }),
    drain: (dataPlane, drainMs) => dataPlane.close(drainMs),
  });
  answerOtherNodes(nodeId, dataPlane, registrar, now());
  isServing = true;
  await client.call('serving', dataPlane.addresses);
  parts.serve();
  const close = (drainMs: number, isReplacedNow: boolean) => {
    isReplaced = isReplacedNow;
    return parts.stop(drainMs);
  };
  const cut = async () => {
    await dataPlane.cluster?.moveEndpoints();
    await waitAtMost(RELEASE_MS, dataPlane.sessions.close());
  };
  return { nodeId, dataPlane, close, cut };
}

/** How much longer than the time to drain a stop may take; milliseconds. */
const STOP_GRACE_MS = 10_000;
/** How long the control process is waited for at a stop; milliseconds. */
const RELEASE_MS = 2000;

/** Answers what the control process asks for the API. */
function answerOtherNodes(nodeId: string, dataPlane: DataPlane, registrar: RemoteRegistrar, startedAt: number): void {
  const { cluster, sessions } = dataPlane;
  nodeDirectory(nodeId, cluster, startedAt);
  trafficState(dataPlane);
  sessionCommandsByLink(cluster, (id) => registrar.isOwn(id), sessions);
}

interface ReporterParts {
  sources: RemoteSources;
  log: Logger;
  registry: Registry;
  now(): number;
}

/** Starts what makes events of traffic. The control process stores them. */
async function startReporter(
  parts: Lifecycle,
  config: Config,
  { sources, log, registry, now }: ReporterParts,
): Promise<TrafficEvents> {
  const failed = (text: string) => (error: unknown) => log.error({ err: describeFailure(error) }, text);
  const counters = trafficCounters();
  const subscribers = await parts.start({
    name: 'subscribers to traffic events',
    start: () =>
      new TrafficSubscribers({
        store: sources.traffic,
        objects: trafficObjects,
        onFailure: failed('subscriptions cannot be read; trying again'),
      }),
    stop: (subscribers) => subscribers.close(),
  });
  const buffer = await parts.start({
    name: 'buffer of traffic events',
    start: () =>
      new EventBuffer({
        store: sources.traffic,
        maxBytes: config.eventBufferBytes,
        counters,
        onFailure: failed('events cannot be stored; trying again'),
        random: Math.random,
      }),
    async stop(buffer) {
      await buffer.flush();
      buffer.close();
    },
  });
  trafficEventMetrics(registry, counters);
  await subscribers.refresh();
  return parts.start({
    name: 'reporter of traffic events',
    start: () =>
      new TrafficEvents({
        subscribers,
        buffer,
        counters,
        newEventId: () => newId('ev'),
        random: Math.random,
        time: now,
        onFailure: failed('an event cannot be written'),
      }),
    stop: (reporter) => reporter.flush(),
  });
}
