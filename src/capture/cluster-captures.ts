// Captures over all nodes: each captures the requests that come to it, and whoever is asked answers for all. Which captures are
// on, each reads of the database.

import type { ClusterAccess } from '../cluster/cluster-query.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { readCaptures, serveCaptures } from './capture-transfer.ts';
import type { RequestCapture } from './captured-request.ts';
import type { CaptureState, Captures } from './captures.ts';
import { combinedState, type NodeCaptureState } from './combined-state.ts';
import type { CaptureFollower } from './follow-captures.ts';
import { type CaptureTarget, targetKey } from './stored-capture.ts';

const RELOAD = 'captureReload';
const CLEAR = 'captureClear';
const LOOK = 'captureLook';
const FIND = 'captureFind';
const WATCH = 'captureWatch';
const CAPTURED = 'captured';
/** How long another node tells of what it captures after it was asked to, and how often it is asked; milliseconds. */
const WATCH_MS = 10_000;
const RENEW_MS = 3000;
const TELL_TIMEOUT_MS = 1000;
/** How long this node is waited for until it has taken over a stored capture; milliseconds. */
const RELOAD_MS = 1000;

/** What a node knows of the capture at an address. */
interface NodeCapture {
  state: NodeCaptureState;
  /** Who has started it or changed it last; null when it is off and nothing is stored. */
  heldBy: string | null;
  /** Its stored requests, the newest first. */
  requests: { id: string; endpointId: string }[];
}

/** A captured request, and where it is. */
export interface CaptureRef {
  id: string;
  /** The node that has it; '' is this one. */
  nodeId: string;
  accountId: string;
  address: CaptureTarget['address'];
  /** The endpoint that served the address then. */
  endpointId: string;
  /** Who has started its capture; null when it is off and nothing is stored. */
  heldBy: string | null;
}

/** The capture at an address over all nodes. */
export interface GatheredCapture {
  state: CaptureState;
  /** Everybody who has started it at some node. */
  heldBy: readonly string[];
  /** The stored requests, the newest first. */
  requests: readonly { id: string; endpointId: string; nodeId: string }[];
  /** Whether a node did not answer in time; null where there is no link to any. */
  isPartial: boolean | null;
}

type Listener = (ref: CaptureRef) => void;

export class ClusterCaptures {
  readonly #captures: Captures;
  readonly #cluster: ClusterAccess | undefined;
  readonly #follower: Pick<CaptureFollower, 'reload'> | undefined;
  /** Who of this node watches, by `targetKey`. */
  readonly #listeners = new Map<string, Set<Listener>>();
  /** The other nodes that watch, and the end of that. */
  readonly #watchers = new Map<string, { link: NodeLink; ending: NodeJS.Timeout }>();

  /**
   * @param cluster undefined where there is no other node.
   * @param follower of stored captures; undefined where no visitors come.
   */
  constructor(captures: Captures, cluster: ClusterAccess | undefined, follower?: Pick<CaptureFollower, 'reload'>) {
    this.#captures = captures;
    this.#cluster = cluster;
    this.#follower = follower;
    if (!cluster) return;
    serveCaptures(captures, cluster);
    const { methods } = cluster;
    methods.set(RELOAD, async (body) => {
      await follower?.reload((body as { ids: string[] }).ids);
      return {};
    });
    methods.set(CLEAR, async (body) => {
      captures.clear(body as CaptureTarget);
      return {};
    });
    methods.set(LOOK, async (body) => this.#look(body as CaptureTarget));
    methods.set(FIND, async (body) => this.#find((body as { id: string }).id) ?? {});
    methods.set(WATCH, async (body, link) => {
      this.#watch(body as CaptureTarget, link);
      return {};
    });
    methods.set(CAPTURED, async (body, { nodeId }) => {
      const ref = { ...(body as CaptureRef), nodeId };
      for (const listener of this.#listeners.get(targetKey(ref)) ?? []) listener(ref);
      return {};
    });
  }

  /** Whether requests at other nodes are captured, too. */
  get reachesNodes(): boolean {
    return this.#cluster !== undefined;
  }

  /**
   * Has all nodes take over a capture as it is stored, and waits for that for a second at most. They hear of it in any case;
   * but whoever has started it may send the next request at once.
   */
  async reload(id: string): Promise<void> {
    const own = this.#follower && waitAtMost(RELOAD_MS, this.#follower.reload([id]));
    await Promise.all([own, this.#cluster?.calls.callAll(RELOAD, { ids: [id] })]);
  }

  /** Deletes the captured requests of an address. It waits for other nodes for a second at most. */
  async clear({ accountId, address }: CaptureTarget): Promise<void> {
    this.#captures.clear({ accountId, address });
    await this.#cluster?.calls.callAll(CLEAR, { accountId, address });
  }

  /** The capture at an address. It waits for other nodes for a second at most. */
  async look({ accountId, address }: CaptureTarget): Promise<GatheredCapture> {
    const own = this.#look({ accountId, address });
    const others = await this.#cluster?.calls.callAll<NodeCapture>(LOOK, { accountId, address });
    const all = [['', own] as const, ...(others?.answers ?? [])];
    const requests = all.flatMap(([nodeId, { requests }]) => requests.map((request) => ({ ...request, nodeId })));
    return {
      state: combinedState(all.map(([, { state }]) => state)),
      heldBy: all.flatMap(([, { heldBy }]) => heldBy ?? []),
      requests: requests.toSorted((one, other) => (one.id < other.id ? 1 : -1)),
      isPartial: others ? others.silent.length > 0 : null,
    };
  }

  /** Finds a captured request at any node. */
  async find(id: string): Promise<CaptureRef | undefined> {
    const own = this.#find(id);
    if (own) return own;
    const others = await this.#cluster?.calls.callAll<Partial<CaptureRef>>(FIND, { id });
    for (const [nodeId, found] of others?.answers ?? []) if (found.id) return { ...(found as CaptureRef), nodeId };
    return undefined;
  }

  /** Reads captured requests, in the order given. Those that are gone meanwhile are left out. */
  async read(refs: readonly { id: string; nodeId: string }[]): Promise<RequestCapture[]> {
    const found = new Map<string, RequestCapture>();
    await Promise.all(
      [...groupByNode(refs)].map(async ([nodeId, ofNode]) => {
        const ids = ofNode.map(({ id }) => id);
        const own = () => ids.flatMap((id) => this.#captures.get(id) ?? []);
        const there =
          this.#cluster && nodeId !== '' ? readCaptures(this.#cluster, { id: nodeId, address: '' }, ids) : own();
        for (const captured of await there) found.set(captured.id, captured);
      }),
    );
    return refs.flatMap(({ id }) => found.get(id) ?? []);
  }

  /** Calls the listener with each request that is captured at an address, at any node. @returns the function that ends it. */
  listen({ accountId, address }: CaptureTarget, listener: Listener): () => void {
    const target = { accountId, address };
    const key = targetKey(target);
    const stop = this.#captures.listen(target, ({ id }) => {
      const ref = this.#find(id);
      if (ref) listener(ref);
    });
    if (!this.#cluster) return stop;
    const { calls } = this.#cluster;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    const ask = () => void calls.callAll(WATCH, target);
    ask();
    const renewal = setInterval(ask, RENEW_MS).unref();
    return () => {
      stop();
      clearInterval(renewal);
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key);
    };
  }

  #look(target: CaptureTarget): NodeCapture {
    const { redacted, ...state } = this.#captures.state(target);
    return {
      state: { ...state, redacted: [...redacted] },
      heldBy: this.#captures.ownerOf(target) ?? null,
      requests: this.#captures.list(target).map(({ id, endpointId }) => ({ id, endpointId })),
    };
  }

  #find(id: string): CaptureRef | undefined {
    const captured = this.#captures.get(id);
    if (!captured) return undefined;
    const { accountId, address, endpointId } = captured;
    return { id, nodeId: '', accountId, address, endpointId, heldBy: this.#captures.ownerOf(captured) ?? null };
  }

  /** Tells another node of what is captured, until it does not ask for it any more. */
  #watch(target: CaptureTarget, link: NodeLink): void {
    const key = `${link.nodeId} ${targetKey(target)}`;
    const known = this.#watchers.get(key);
    if (known) {
      known.link = link;
      known.ending.refresh();
      return;
    }
    const stop = this.#captures.listen(target, ({ id }) => {
      const ref = this.#find(id);
      // Whoever cannot be reached finds it in the list.
      if (ref) watcher.link.call(CAPTURED, ref, TELL_TIMEOUT_MS).catch(() => undefined);
    });
    const end = () => {
      stop();
      this.#watchers.delete(key);
    };
    const watcher = { link, ending: setTimeout(end, WATCH_MS).unref() };
    this.#watchers.set(key, watcher);
  }
}

function groupByNode(refs: readonly { id: string; nodeId: string }[]) {
  const groups = new Map<string, { id: string; nodeId: string }[]>();
  for (const ref of refs) groups.set(ref.nodeId, [...(groups.get(ref.nodeId) ?? []), ref]);
  return groups;
}
