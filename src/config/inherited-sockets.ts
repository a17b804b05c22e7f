// Listening sockets that systemd has opened and hands in (socket activation; sd_listen_fds(3)). While the gateway restarts, the kernel
// keeps the connections that come to them.

/** The listeners, as `FileDescriptorName=` of a socket unit names them. */
export const LISTENER_NAMES = ['api', 'admin', 'agent', 'http', 'https'] as const;
export type ListenerName = (typeof LISTENER_NAMES)[number];

/** File descriptors of listening sockets. A listener without one binds its own port. */
export type InheritedSockets = Readonly<Partial<Record<ListenerName, number>>>;

/** The first of the descriptors that are handed in. */
const FIRST = 3;

/**
 * Reads `LISTEN_FDS`, `LISTEN_FDNAMES` and `LISTEN_PID`.
 * @param pid of this process: sockets for another one are not ours.
 * @returns the sockets, and what is wrong with the names; undefined when all is right.
 */
export function readInheritedSockets(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): { sockets: InheritedSockets; mistake: string | undefined } {
  const count = Number(env.LISTEN_FDS ?? 0);
  if (Number(env.LISTEN_PID) !== pid || count === 0) return { sockets: {}, mistake: undefined };
  if (!Number.isInteger(count) || count < 0) return wrong(`LISTEN_FDS is a number of sockets, not ${env.LISTEN_FDS}`);
  const names = env.LISTEN_FDNAMES?.split(':') ?? [];
  const sockets: Partial<Record<ListenerName, number>> = {};
  for (let index = 0; index < count; index++) {
    const name = LISTENER_NAMES.find((known) => known === names[index]);
    if (!name)
      return wrong(
        `LISTEN_FDNAMES names each socket by its listener (FileDescriptorName= in its unit): one of ${LISTENER_NAMES.join(', ')}, not ${names[index] || 'nothing'}`,
      );
    if (sockets[name] !== undefined) return wrong(`LISTEN_FDNAMES names two sockets ${name}: each listener has one`);
    sockets[name] = FIRST + index;
  }
  return { sockets, mistake: undefined };
}

const wrong = (mistake: string) => ({ sockets: {}, mistake });
