// Serves the workers of this gateway: the processes that carry visitors and agents, while this one has the API and the database.

import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { RequestCapture } from '../../capture/captured-request.ts';
import type { EdgeVisit, EdgeVisitResult } from '../../capture/edge-visit.ts';
import type { Replays } from '../../capture/replay.ts';
import type { ReplayEdits } from '../../capture/replay-head.ts';
import { CONTROL_SOCKET, LocalSockets } from '../../cluster/local-sockets.ts';
import type { Config } from '../../config/config.ts';
import { CallChannel } from '../../control/call-channel.ts';
import type { ServedAddresses, WorkerCalls } from '../../control/calls.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { allNodeIds, deleteEndedNodes, extendLeases } from '../../store/nodes/nodes.ts';
import { every } from '../housekeeping.ts';
import type { Storage } from '../storage.ts';
import { type AttachedWorker, controlCalls, type WorkerDeps } from './attached-worker.ts';

/** How often it is looked for workers that have ended while nobody was connected to them; milliseconds. */
const ENDED_INTERVAL_MS = 1000;

export interface WorkerHostDeps extends Pick<WorkerDeps, 'visitorSessions'> {
  config: Config;
  storage: Storage;
  baseUrl(): string;
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** The id of this process's own node. */
  nodeId: string;
}

export class WorkerHost {
  readonly #deps: WorkerHostDeps;
  readonly #sockets: LocalSockets;
  readonly #server: Server;
  readonly #workers = new Map<string, AttachedWorker>();
  readonly #channels = new Set<CallChannel<WorkerCalls>>();
  /** The ids of the workers whose listeners are open. */
  readonly #serving = new Set<string>();
  /** The addresses of the first worker that serves; the others share its ports. */
  readonly addresses: Promise<ServedAddresses>;
  #resolveAddresses: (addresses: ServedAddresses) => void = () => {};
  #checks: NodeJS.Timeout | undefined;
  #isHandingOver = false;

  /** @param directory of the unix sockets. */
  constructor(directory: string, deps: WorkerHostDeps) {
    this.#deps = deps;
    this.addresses = new Promise((resolve) => {
      this.#resolveAddresses = resolve;
    });
    this.#sockets = new LocalSockets(directory);
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.on('error', () => {}); // accept() failed for want of descriptors; later connections may succeed.
  }

  get workers(): readonly AttachedWorker[] {
    return [...this.#workers.values()];
  }

  /** Why no visitor can be served, as a sentence; null when one can. */
  get reasonNotReady(): string | null {
    return this.#serving.size > 0 ? null : 'No worker is ready.';
  }

  /** Serves workers from now on. */
  async open(): Promise<void> {
    await this.#sockets.listen(this.#server, CONTROL_SOCKET);
    const failed = (error: unknown) =>
      this.#deps.log.warn({ err: describeFailure(error) }, 'nodes of workers that have ended could not be deleted');
    this.#checks = every(ENDED_INTERVAL_MS, () => this.#deleteEnded(), failed);
  }

  /** Replays a captured request at a worker: always at the first, which limits how many replays of an account there are at once. */
  async replay(captured: RequestCapture, edits: ReplayEdits): ReturnType<Replays['send']> {
    const [worker] = this.workers;
    if (!worker) return { failed: 'noAnswer', reason: 'no worker is ready' };
    return worker.channel.call('replay', captured, edits);
  }

  /** Visits a name at a worker. */
  async visitEdge(visit: EdgeVisit): Promise<EdgeVisitResult> {
    const [worker] = this.workers;
    if (!worker) return { status: null, durationMs: 0, errorCode: null, reason: 'no worker is ready' };
    return worker.channel.call('visitEdge', visit);
  }

  /** Stops the workers, and waits until they have ended, or for so many milliseconds. */
  async stopWorkers(drainMs: number): Promise<void> {
    if (this.#isHandingOver) return;
    await Promise.all(
      this.workers.map(async ({ channel }) => {
        const ended = new Promise<void>((resolve) => channel.onClosed(resolve));
        await channel.call('stop', drainMs).catch(() => undefined); // It has ended.
        await ended;
      }),
    );
  }

  /** At the next stop of this process, the workers go on: another control process takes over. */
  handOver(): void {
    this.#isHandingOver = true;
  }

  /** Lets go of the workers, which wait for another control process. */
  close(): void {
    clearInterval(this.#checks);
    this.#server.close();
    for (const channel of this.#channels) channel.close();
  }

  #accept(socket: Socket): void {
    let worker: AttachedWorker | undefined;
    const deps: WorkerDeps = {
      ...this.#deps,
      onServing: ({ nodeId }, addresses) => {
        this.#serving.add(nodeId);
        this.#resolveAddresses(addresses);
      },
    };
    const { own, end } = controlCalls(
      deps,
      () => channel,
      (attached) => {
        worker = attached;
        this.#workers.get(attached.nodeId)?.channel.close();
        this.#workers.set(attached.nodeId, attached);
        this.#deps.log.info({ nodeId: attached.nodeId }, 'worker connected');
      },
    );
    const channel = new CallChannel<WorkerCalls>(socket, own);
    this.#channels.add(channel);
    channel.onClosed(() => {
      this.#channels.delete(channel);
      end();
      if (!worker || this.#workers.get(worker.nodeId) !== worker) return;
      this.#workers.delete(worker.nodeId);
      this.#serving.delete(worker.nodeId);
      // When the worker has ended, its sessions end now.
      void this.#deleteEnded().catch(() => undefined); // It is repeated in a second.
    });
  }

  async #deleteEnded(): Promise<void> {
    const { config, storage, baseUrl, nodeId } = this.#deps;
    const { prisma, changes } = storage;
    const detached = this.#sockets.nodeIds().filter((id) => id !== nodeId && !this.#workers.has(id));
    if (detached.length === 0) return;
    const { alive, ended } = await this.#sockets.split(detached);
    await extendLeases(prisma, alive, config.nodeLeaseMs);
    await deleteEndedNodes({ prisma, changes, baseUrl }, ended, config.sessionHold);
    for (const id of ended) this.#sockets.remove(id);
  }
}

/**
 * Deletes the nodes of earlier processes, before this one joins: those on this machine that have ended, and with the embedded database
 * all that do not run here. Workers that are alive go on.
 */
export async function deleteEarlierNodes(
  directory: string,
  { config, storage, baseUrl }: Omit<WorkerHostDeps, 'nodeId' | 'log' | 'now' | 'visitorSessions'>,
): Promise<void> {
  const { prisma, changes } = storage;
  const sockets = new LocalSockets(directory);
  const { alive, ended } = await sockets.split(sockets.nodeIds());
  await extendLeases(prisma, alive, config.nodeLeaseMs);
  const all = config.databaseUrl === undefined ? await allNodeIds(prisma) : ended;
  await deleteEndedNodes(
    { prisma, changes, baseUrl },
    all.filter((id) => !alive.includes(id)),
    config.sessionHold,
  );
  for (const id of ended) sockets.remove(id);
}
