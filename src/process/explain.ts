// What people are told when a start fails.

import { ConfigError } from '../config/config.ts';

/** The codes of errors of a disk that is read-only or full, and of a directory without write permission. */
const NOT_WRITABLE_CODES = new Set(['EROFS', 'ENOSPC', 'EDQUOT', 'EACCES', 'EPERM']);

/** The codes of errors of a file descriptor that is no socket, or none that can listen. */
const NO_SOCKET_CODES = new Set(['EINVAL', 'ENOTSOCK', 'EBADF', 'EOPNOTSUPP']);

/** The text for an error: only the message for an error that a person can fix, with the stack for others. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is not right:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `${error.message}: another process has this port; set API_PORT, ADMIN_PORT, AGENT_PORT, HTTP_PORT or HTTPS_PORT to another, or 0 for any.`;
  if (syscall === 'listen' && NO_SOCKET_CODES.has(code ?? ''))
    return `${error.message}: a socket that was handed in (LISTEN_FDS) is no TCP socket that listens; look at ListenStream= in its unit.`;
  // pg-pool has no code for this error, only a text.
  if (code === 'ECONNREFUSED' || error.message === 'Connection terminated due to connection timeout')
    return `The database cannot be reached: ${error.message || 'connection refused'}. Look at DATABASE_URL.`;
  if (code === 'EACCES' && syscall === 'listen')
    return `${error.message}: the system keeps this port for root; set API_PORT, ADMIN_PORT, AGENT_PORT, HTTP_PORT or HTTPS_PORT to another, or let this process have it (CAP_NET_BIND_SERVICE).`;
  // For a directory below one that is not writable, mkdir fails with ENOENT.
  if (path !== undefined && (NOT_WRITABLE_CODES.has(code ?? '') || (code === 'ENOENT' && syscall === 'mkdir')))
    return `${error.message}: the gateway keeps its data there, so it has to be a directory with room that it may write. Look at DATA_DIR.`;
  return error.constructor === Error ? (error.stack ?? error.message) : error.message;
}
