// The unix sockets by which the processes of one machine reach each other. Only their owner may open them.

import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

/** The longest path of a unix socket, in bytes (`sun_path` of unix(7), without the zero at its end). */
const PATH_MAX = 107;
const SUFFIX = '.sock';
/** The names of the sockets of the control process and of the primary, beside those of the nodes. */
export const CONTROL_SOCKET = 'control';
export const PRIMARY_SOCKET = 'primary';
/** The longest name: a node id. */
const NAME_MAX = 'node_'.length + 27;
/** The longest path of a directory of sockets, in bytes. */
export const SOCKET_DIRECTORY_MAX = PATH_MAX - '/'.length - NAME_MAX - SUFFIX.length;

export class LocalSockets {
  readonly #directory: string;

  /** @param directory is created when a process listens in it. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @param name a node id, or `CONTROL_SOCKET`. */
  pathOf(name: string): string {
    return join(this.#directory, `${name}${SUFFIX}`);
  }

  has(name: string): boolean {
    return existsSync(this.pathOf(name));
  }

  /** The ids of the nodes that have, or had, a socket here. */
  nodeIds(): string[] {
    if (!existsSync(this.#directory)) return [];
    const names = readdirSync(this.#directory).filter((name) => name.startsWith('node_') && name.endsWith(SUFFIX));
    return names.map((name) => name.slice(0, -SUFFIX.length));
  }

  /** Listens as this name. What another process, which has ended, has left there is replaced. */
  async listen(server: Server, name: string): Promise<void> {
    mkdirSync(this.#directory, { recursive: true });
    chmodSync(this.#directory, 0o700);
    this.remove(name);
    // The directory keeps others out already, and with it there is no moment in which they could open the socket.
    server.listen({ path: this.pathOf(name), exclusive: true });
    await once(server, 'listening');
  }

  remove(name: string): void {
    rmSync(this.pathOf(name), { force: true });
  }

  /** @throws when nobody listens there, or within `timeoutMs` the connection is not accepted. */
  async connect(name: string, timeoutMs: number): Promise<Socket> {
    const socket = connect({ path: this.pathOf(name) });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      socket.on('error', () => {}); // It is given up.
      socket.destroy();
      throw error;
    }
    return socket;
  }

  /** Which of these names are those of processes that run, and of processes that have ended. */
  async split(names: readonly string[]): Promise<{ alive: string[]; ended: string[] }> {
    const states = await Promise.all(names.map(async (name) => [name, await this.isAlive(name)] as const));
    const of = (wanted: boolean) => states.flatMap(([name, isAlive]) => (isAlive === wanted ? [name] : []));
    return { alive: of(true), ended: of(false) };
  }

  /** Whether a process listens as this name: the socket of one that has ended refuses connections. */
  async isAlive(name: string): Promise<boolean> {
    const socket = await this.connect(name, 1000).catch((error: NodeJS.ErrnoException) => error);
    if (socket instanceof Error) return socket.code !== 'ECONNREFUSED' && socket.code !== 'ENOENT';
    socket.destroy();
    return true;
  }
}
