// Captures over all nodes: each captures the requests that come to it, and whoever is asked answers for all.

import type { ClusterAccess } from '../cluster/cluster-query.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { readCaptures, serveCaptures } from './capture-transfer.ts';
import type { RequestCapture } from './captured-request.ts';
import type { CaptureOptions, CaptureState, Captures } from './captures.ts';

const CONTROL = 'captureControl';
const LOOK = 'captureLook';
const FIND = 'captureFind';
const WATCH = 'captureWatch';
const CAPTURED = 'captured';
/** How long another node tells of what it captures after it was asked to, and how often it is asked; milliseconds. */
const WATCH_MS = 10_000;
const RENEW_MS = 3000;
const TELL_TIMEOUT_MS = 1000;

export type CaptureOwner = { accountId: string; ownerId: string };

/** What is done to the capture at an endpoint. */
type CaptureCommand =
  | { endpointId: string; action: 'start'; owner: CaptureOwner; options: CaptureOptions }
  | { endpointId: string; action: 'stop' | 'clear' };

/** What a node knows of the capture at an endpoint. */
interface NodeCapture {
  state: Omit<CaptureState, 'redacted'> & { redacted: string[] };
  /** Who has started it or changed it last; null when it is off and nothing is stored. */
  heldBy: string | null;
  /** The ids of its stored requests, the newest first. */
  ids: string[];
}

/** A captured request, and where it is. */
export interface CaptureRef {
  id: string;
  /** The node that has it; '' is this one. */
  nodeId: string;
  accountId: string;
  endpointId: string;
  /** Who has started its capture; null when it is off and nothing is stored. */
  heldBy: string | null;
}

/** The capture at an endpoint over all nodes. */
export interface GatheredCapture {
  state: CaptureState;
  /** Everybody who has started it at some node. */
  heldBy: readonly string[];
  /** The stored requests, the newest first. */
  requests: readonly { id: string; nodeId: string }[];
  /** Whether a node did not answer in time; null where there is no link to any. */
  isPartial: boolean | null;
}

type Listener = (ref: CaptureRef) => void;

export class ClusterCaptures {
  readonly #captures: Captures;
  readonly #cluster: ClusterAccess | undefined;
  /** Who of this node watches endpoints. */
  readonly #listeners = new Map<string, Set<Listener>>();
  /** The other nodes that watch endpoints, and the end of that. */
  readonly #watchers = new Map<string, { link: NodeLink; ending: NodeJS.Timeout }>();

  /** @param cluster undefined where there is no other node. */
  constructor(captures: Captures, cluster: ClusterAccess | undefined) {
    this.#captures = captures;
    this.#cluster = cluster;
    if (!cluster) return;
    serveCaptures(captures, cluster);
    const { methods } = cluster;
    methods.set(CONTROL, async (body) => {
      this.#run(body as CaptureCommand);
      return {};
    });
    methods.set(LOOK, async (body) => this.#look((body as { endpointId: string }).endpointId));
    methods.set(FIND, async (body) => this.#find((body as { id: string }).id) ?? {});
    methods.set(WATCH, async (body, link) => {
      this.#watch((body as { endpointId: string }).endpointId, link);
      return {};
    });
    methods.set(CAPTURED, async (body, { nodeId }) => {
      const ref = { ...(body as CaptureRef), nodeId };
      for (const listener of this.#listeners.get(ref.endpointId) ?? []) listener(ref);
      return {};
    });
  }

  /** Whether requests at other nodes are captured, too. */
  get reachesNodes(): boolean {
    return this.#cluster !== undefined;
  }

  start(endpointId: string, { accountId, ownerId }: CaptureOwner, options: CaptureOptions): Promise<void> {
    return this.#runAtAll({ endpointId, action: 'start', owner: { accountId, ownerId }, options });
  }

  stop(endpointId: string): Promise<void> {
    return this.#runAtAll({ endpointId, action: 'stop' });
  }

  clear(endpointId: string): Promise<void> {
    return this.#runAtAll({ endpointId, action: 'clear' });
  }

  /** The capture at an endpoint. It waits for other nodes for a second at most. */
  async look(endpointId: string): Promise<GatheredCapture> {
    const own = this.#look(endpointId);
    const others = await this.#cluster?.calls.callAll<NodeCapture>(LOOK, { endpointId });
    const all = [['', own] as const, ...(others?.answers ?? [])];
    const requests = all.flatMap(([nodeId, { ids }]) => ids.map((id) => ({ id, nodeId })));
    return {
      state: combined(all.map(([, { state }]) => state)),
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

  /** Calls the listener with each request that is captured at an endpoint, at any node. @returns the function that ends it. */
  listen(endpointId: string, listener: Listener): () => void {
    const stop = this.#captures.listen(endpointId, ({ id }) => {
      const ref = this.#find(id);
      if (ref) listener(ref);
    });
    if (!this.#cluster) return stop;
    const { calls } = this.#cluster;
    const listeners = this.#listeners.get(endpointId) ?? new Set();
    this.#listeners.set(endpointId, listeners.add(listener));
    const ask = () => void calls.callAll(WATCH, { endpointId });
    ask();
    const renewal = setInterval(ask, RENEW_MS).unref();
    return () => {
      stop();
      clearInterval(renewal);
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(endpointId) === listeners) this.#listeners.delete(endpointId);
    };
  }

  async #runAtAll(command: CaptureCommand): Promise<void> {
    this.#run(command);
    await this.#cluster?.calls.callAll(CONTROL, command);
  }

  #run(command: CaptureCommand): void {
    if (command.action === 'start') this.#captures.start(command.endpointId, command.owner, command.options);
    else this.#captures[command.action](command.endpointId);
  }

  #look(endpointId: string): NodeCapture {
    const { redacted, ...state } = this.#captures.state(endpointId);
    const ids = this.#captures.list(endpointId).map(({ id }) => id);
    return {
      state: { ...state, redacted: [...redacted] },
      heldBy: this.#captures.ownerOf(endpointId) ?? null,
      ids,
    };
  }

  #find(id: string): CaptureRef | undefined {
    const captured = this.#captures.get(id);
    if (!captured) return undefined;
    const { accountId, endpointId } = captured;
    return { id, nodeId: '', accountId, endpointId, heldBy: this.#captures.ownerOf(endpointId) ?? null };
  }

  /** Tells another node of what is captured, until it does not ask for it any more. */
  #watch(endpointId: string, link: NodeLink): void {
    const key = `${link.nodeId} ${endpointId}`;
    const known = this.#watchers.get(key);
    if (known) {
      known.link = link;
      known.ending.refresh();
      return;
    }
    const stop = this.#captures.listen(endpointId, ({ id }) => {
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

/** On, where any is; with the sums of what is stored; of what is set, what the longest one has. */
function combined(states: readonly NodeCapture['state'][]): CaptureState {
  const [first, ...others] = states as [NodeCapture['state'], ...NodeCapture['state'][]];
  const longest = others.reduce((best, each) => (each.endsAt > best.endsAt ? each : best), first);
  const total = (count: 'kept' | 'keptBytes' | 'passed' | 'forgotten') =>
    states.reduce((all, each) => all + each[count], 0);
  return {
    ...longest,
    isOn: states.some(({ isOn }) => isOn),
    redacted: new Set(states.flatMap(({ redacted }) => redacted)),
    kept: total('kept'),
    keptBytes: total('keptBytes'),
    passed: total('passed'),
    forgotten: total('forgotten'),
  };
}
