// A TCP proxy that does to its connections, when told to, what a network between two machines does.

import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { abort, type Line, PERFECT, pipe, type Traffic } from './fault-line.ts';

/** `up` is from the client to the target, `down` from the target to the client. */
export type Direction = 'up' | 'down';

/** What can be done to one connection or, through the proxy, to all that there are. */
export interface Faults {
  /** Changes a direction, or both; through the proxy also for connections to come. */
  shape(line: Partial<Line>, direction?: Direction): void;
  /** The receiver sees an end after what is on its way; what the sender goes on to send is lost. */
  halfClose(direction: Direction): void;
  /** Closes both sockets at once, as the end of a process does. Resolves when they are closed. */
  cut(): Promise<void>;
  /** Both sides get a RST at once. Resolves when their sockets are closed. */
  reset(): Promise<void>;
}

export interface ProxiedConnection extends Faults {
  readonly up: Traffic;
  readonly down: Traffic;
  /** That the target sees it come from; undefined before it is reached. */
  readonly port: number | undefined;
  /** Resolves when both sockets are closed. */
  readonly closed: Promise<void>;
  /** No delay, no limit, no outage; what is on its way arrives at once. */
  heal(): void;
}

export interface FaultProxy extends Faults {
  readonly port: number;
  /** Those of which a socket is open, the oldest first. */
  readonly connections: ReadonlySet<ProxiedConnection>;
  /** How many there ever were. */
  readonly accepted: number;
  /** The next connection that reaches the target. */
  connected(): Promise<ProxiedConnection>;
  /** The next connection of which both sockets are closed. */
  closed(): Promise<ProxiedConnection>;
  /** New connections are refused until `heal`; those that exist live on. */
  refuse(): void;
  /** Heals every connection, and new ones are accepted again on the same port. */
  heal(): Promise<void>;
  /** Refuses, and cuts. */
  close(): Promise<void>;
}

/**
 * Listens on a free port of 127.0.0.1.
 * @param port of the target; 0 is the number of the port that it listens on itself.
 * @param window how many bytes may be on their way in one direction of a connection: it bounds the memory, and with it
 * the throughput over a delay. A receiver that takes nothing stops the sender at once.
 */
export async function startFaultProxy(host: string, port: number, window = 64 * 2 ** 20): Promise<FaultProxy> {
  const lines = { up: { ...PERFECT }, down: { ...PERFECT } };
  const connections = new Set<ProxiedConnection>();
  const onConnected = announcement<ProxiedConnection>();
  const onClosed = announcement<ProxiedConnection>();
  let accepted = 0;

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    accepted++;
    const far = new Socket({ allowHalfOpen: true }).setNoDelay();
    const connection = join(near, far, lines, window, () => far.connect(port || own, host));
    connections.add(connection);
    far.on('connect', () => onConnected.tell(connection));
    connection.closed.then(() => {
      connections.delete(connection);
      onClosed.tell(connection);
    });
  });
  const listen = async (on: number) => {
    server.listen(on, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const own = await listen(0);
  const all = (what: (connection: ProxiedConnection) => unknown) => Promise.all([...connections].map(what));

  const proxy: FaultProxy = {
    port: own,
    connections,
    get accepted() {
      return accepted;
    },
    connected: onConnected.next,
    closed: onClosed.next,
    shape(line, direction) {
      for (const each of directions(direction)) Object.assign(lines[each], line);
      all((connection) => connection.shape(line, direction));
    },
    halfClose: (direction) => void all((connection) => connection.halfClose(direction)),
    cut: async () => void (await all((connection) => connection.cut())),
    reset: async () => void (await all((connection) => connection.reset())),
    refuse: () => void server.close(),
    async heal() {
      for (const each of directions()) Object.assign(lines[each], PERFECT);
      all((connection) => connection.heal());
      if (!server.listening) await listen(own);
    },
    async close() {
      proxy.refuse();
      await proxy.cut();
    },
  };
  return proxy;
}

function directions(one?: Direction): Direction[] {
  return one ? [one] : ['up', 'down'];
}

/** One connection out of two sockets. @param dial connects the far one. */
function join(
  near: Socket,
  far: Socket,
  lines: Record<Direction, Line>,
  window: number,
  dial: () => void,
): ProxiedConnection {
  const up = pipe(near, far, { ...lines.up }, window);
  const down = pipe(far, near, { ...lines.down }, window);
  const pipes = { up, down };
  const closed = Promise.all([near, far].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  let dialled = false;

  const settle = () => {
    if (near.destroyed && !dialled) far.destroy();
    if (up.line.outage !== 'none' || down.line.outage !== 'none') return;
    if (!dialled && !up.traffic.dead && !far.destroyed) {
      dialled = true;
      dial();
    }
    // Whoever has ended, and waits for an end that was lost, waits for ever: its socket would stay.
    if (near.readableEnded && (down.traffic.dead || !dialled)) near.destroy();
    if (far.readableEnded && up.traffic.dead) far.destroy();
  };
  for (const socket of [near, far]) socket.on('end', settle).on('close', settle);
  settle();

  const both = (end: (socket: Socket) => void) => async () => {
    end(near);
    end(far);
    await closed;
  };
  return {
    up: up.traffic,
    down: down.traffic,
    get port() {
      return far.localPort;
    },
    closed: closed.then(() => undefined),
    shape(line, direction) {
      for (const each of directions(direction)) pipes[each].shape(line);
      settle();
    },
    halfClose: (direction) => pipes[direction].send('end'),
    cut: both((socket) => socket.destroy()),
    reset: both(abort),
    heal() {
      for (const each of directions()) pipes[each].heal();
      settle();
    },
  };
}

/** An event that can be awaited any number of times. */
function announcement<T>() {
  let waiting: ((value: T) => void)[] = [];
  return {
    next: () => new Promise<T>((resolve) => waiting.push(resolve)),
    tell(value: T) {
      const told = waiting;
      waiting = [];
      for (const resolve of told) resolve(value);
    },
  };
}
